import type { JsonObject, JsonValue } from "./field.js";
import { isPublicName, type Kind } from "./kind.js";

/**
 * Identifiers of the most common licences for data and software (SPDX License List 3), as patterns
 * over their versions.
 */
const SPDX = new RegExp(
  `^(?:${[
    "CC-BY(?:-NC)?(?:-(?:SA|ND))?-(?:1\\.0|2\\.0|2\\.5|3\\.0|4\\.0)(?:-[A-Z]{2,3})?",
    "CC0-1\\.0",
    "CC-PDDC",
    "PDDL-1\\.0",
    "ODbL-1\\.0",
    "ODC-By-1\\.0",
    "CDLA-(?:Permissive|Sharing)-[12]\\.0",
    "C-UDA-1\\.0",
    "O-UDA-1\\.0",
    "DL-DE-(?:BY|ZERO)-2\\.0",
    "etalab-2\\.0",
    "OGL-(?:UK|Canada)-[1-3]\\.0",
    "NLOD-[12]\\.0",
    "Apache-(?:1\\.[01]|2\\.0)",
    "MIT(?:-0)?",
    "ISC",
    "0BSD",
    "BSD-[1-4]-Clause(?:-[A-Za-z-]+)?",
    "(?:A|L)?GPL-(?:1|2|3)\\.[01](?:-only|-or-later|\\+)?",
    "MPL-(?:1\\.[01]|2\\.0)",
    "EPL-[12]\\.0",
    "EUPL-1\\.[0-2]",
    "CDDL-1\\.[01]",
    "CECILL-(?:2\\.[01]|[BC])",
    "Artistic-(?:1\\.0|2\\.0)",
    "Unlicense",
    "WTFPL",
    "Zlib",
    "BSL-1\\.0",
    "Python-2\\.0",
    "PSF-2\\.0",
    "NCSA",
    "PostgreSQL",
    "AFL-3\\.0",
    "OFL-1\\.1",
    "GFDL-1\\.[1-3](?:-only|-or-later)?",
    "MS-PL",
    "UPL-1\\.0",
    "ECL-2\\.0",
  ].join("|")})$`,
  "i",
);

/** True for an SPDX identifier, or an SPDX expression of them. */
export function isSpdx(text: string): boolean {
  const parts = text
    .replace(/[()]/g, " ")
    .trim()
    .split(/\s+(?:AND|OR|WITH)\s+/);
  return (
    text.length <= 200 &&
    parts.every(
      (part, index) => SPDX.test(part) || (index > 0 && /-exception(?:-[\d.]+)?$/i.test(part)),
    )
  );
}

/** Parts of SPDX identifiers that are not all capitals. */
const CASED = new Map(
  (
    "Apache Artistic Canada Clause ODbL ODC-By Permissive PostgreSQL Python Sharing Unlicense " +
    "Zlib etalab only or-later"
  )
    .split(" ")
    .map((part) => [part.toLowerCase(), part]),
);
const PARTS = new RegExp(`(?<![\\w.])(?:${[...CASED.keys()].join("|")})(?![\\w.])`, "gi");

/** A known SPDX identifier as the list of SPDX writes it; else `undefined`. */
function spdxName(text: string): string | undefined {
  if (text.length > 100 || !SPDX.test(text)) return undefined;
  // Variants of the BSD licences have names of their own.
  const [, bsd, variant = ""] = /^(BSD-\d-Clause)(-.+)?$/i.exec(text) ?? [];
  return (
    (bsd ?? text).toUpperCase().replace(PARTS, (part) => CASED.get(part.toLowerCase()) ?? part) +
    variant
  );
}

/** Addresses of licences, and what the rest of the address is as an SPDX identifier. */
const ADDRESSES: readonly (readonly [
  RegExp,
  (first: string, second: string, third?: string) => string,
])[] = [
  [
    /^creativecommons\.org\/licenses\/([a-z-]+)\/(\d\.\d)(?:\/([a-z]{2,3}))?$/,
    (name, version, land) => `CC-${name}-${version}${land ? `-${land}` : ""}`,
  ],
  [/^creativecommons\.org\/publicdomain\/zero\/(1\.0)$/, (version) => `CC0-${version}`],
  [/^opendatacommons\.org\/licenses\/(odbl|pddl)\/1[.-]0$/, (name) => `${name}-1.0`],
  [/^opendatacommons\.org\/licenses\/by\/1[.-]0$/, () => "ODC-By-1.0"],
  [/^apache\.org\/licenses\/license-(\d\.\d)$/, (version) => `Apache-${version}`],
  [/^gnu\.org\/licenses\/(?:old-licenses\/)?([al]?gpl-\d\.\d)$/, (name) => name],
  [/^mozilla\.org\/(?:[a-z-]+\/)?mpl\/(\d\.\d)$/, (version) => `MPL-${version}`],
  [/^(?:spdx\.org|opensource\.org|choosealicense\.com)\/licenses?\/([\w.+-]+)$/, (name) => name],
  // Open Source Initiative writes versions with a hyphen.
  [/^opensource\.org\/licenses?\/([a-z-]+-\d)-(\d)$/, (name, minor) => `${name}.${minor}`],
];

/** Characters of a licence that are compared and counted by: indexes hold no more. */
const MAX_LICENCE_CHARS = 500;

/**
 * The name that licences are compared and counted by: the SPDX identifier of a licence that is
 * known by it or by its address, else the text itself, without blanks around it.
 */
export function licenceName(text: string): string {
  const stated = text.trim();
  const known = spdxName(stated);
  if (known !== undefined) return known;
  const [, address] =
    stated.length > MAX_LICENCE_CHARS ? [] : (/^https?:\/\/(?:www\.)?([^?#]+)/i.exec(stated) ?? []);
  if (address !== undefined) {
    const path = address
      .toLowerCase()
      .replace(/\/(?:deed|legalcode)(?:\.[\w-]+)?$/, "")
      .replace(/(?:\.[a-z]{2})?\.(?:html?|txt|json)$|\/+$/, "");
    for (const [pattern, nameOf] of ADDRESSES) {
      const parts = pattern.exec(path);
      const name = parts && spdxName(nameOf(parts[1] ?? "", parts[2] ?? "", parts[3]));
      if (name) return name;
    }
  }
  return stated.slice(0, MAX_LICENCE_CHARS).toWellFormed().replaceAll("\0", " ");
}

/**
 * The licence of a record by its {@link licenceName}: the first that its document states, null
 * where it states none or others may not see it.
 */
export function licenceOf(kind: Kind, document: JsonObject): string | null {
  const stated = isPublicName(kind, "license") ? textIn(document["license"]) : undefined;
  return (stated === undefined ? undefined : licenceName(stated)) || null;
}

/** Text or identifier of a value, of a list the first. */
function textIn(value: JsonValue | undefined): string | undefined {
  const first = Array.isArray(value) ? value[0] : value;
  if (typeof first === "string") return first;
  if (first === null || typeof first !== "object" || Array.isArray(first)) return undefined;
  const id = first["@id"];
  return typeof id === "string" ? id : undefined;
}
