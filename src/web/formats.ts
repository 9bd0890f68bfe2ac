/** Forms a record is answered in, the default first. */
export const FORMATS = ["application/ld+json", "application/json", "text/html", "text/turtle", "application/n-quads"] as const;
export type Format = (typeof FORMATS)[number] | "application/linkset+json";

/** Names of the forms in `?format=`, for links that carry their form with them. */
export const FORMAT_NAMES: Readonly<Record<string, Format>> = {
  jsonld: "application/ld+json", json: "application/json", html: "text/html", turtle: "text/turtle", nquads: "application/n-quads", linkset: "application/linkset+json",
};
