/** Addresses of pages. */

/** The address of a record, or of a page about it: `addressOf(id)`, `addressOf(id, "evidence")`. */
export const recordPath = (id: string, page?: string): string =>
  `/${page === undefined ? "" : `${page}/`}${encodeURI(id).replaceAll("?", "%3F").replaceAll("#", "%23")}`;

/** The path of an address of this registry: pages load nothing from other origins. */
export const pathOf = (address: string): string => address.replace(/^https?:\/\/[^/]+/i, "");

/** A path with a query; parameters without a value are left out. */
export function withQuery(
  path: string,
  parameters: Readonly<Record<string, string | number | readonly string[] | null | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (typeof value === "object" && value !== null)
      for (const each of value) query.append(name, each);
    else if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** The ORCID that a text states, alone or as an address: `0000-0002-1825-0097`. */
export const orcidIn = (text: string | null): string | null =>
  /^(?:https?:\/\/orcid\.org\/|orcid:)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])\/?$/i
    .exec(text?.trim() ?? "")?.[1]
    ?.toUpperCase() ?? null;

/** The page of a person: one for each ORCID. */
export const personPath = (orcid: string): string => `/person/${orcid}`;

/** The link of a page to the feed of what it lists. */
export const feedLink = (
  parameters: Parameters<typeof withQuery>[1],
): { rel: string; type: string; href: string } => ({
  rel: "alternate",
  type: "application/atom+xml",
  href: withQuery("/feed", parameters),
});

/** The picture that links to a record show elsewhere. */
export const linkPicture = (id: string): string =>
  `${recordPath(id, "evidencegraph/query")}?format=png&direction=both&depth=2&collapse=4`;
