/** Identifiers of licences that data and software come under most (SPDX License List 3), as patterns over their versions. */
const SPDX = new RegExp(`^(?:${[
  "CC-BY(?:-NC)?(?:-(?:SA|ND))?-(?:1\\.0|2\\.0|2\\.5|3\\.0|4\\.0)(?:-[A-Z]{2,3})?", "CC0-1\\.0", "CC-PDDC", "PDDL-1\\.0", "ODbL-1\\.0", "ODC-By-1\\.0", "CDLA-(?:Permissive|Sharing)-[12]\\.0", "C-UDA-1\\.0", "O-UDA-1\\.0", "DL-DE-(?:BY|ZERO)-2\\.0",
  "etalab-2\\.0", "OGL-(?:UK|Canada)-[1-3]\\.0", "NLOD-[12]\\.0", "Apache-(?:1\\.[01]|2\\.0)", "MIT(?:-0)?", "ISC", "0BSD", "BSD-[1-4]-Clause(?:-[A-Za-z-]+)?", "(?:A|L)?GPL-(?:1|2|3)\\.[01](?:-only|-or-later|\\+)?",
  "MPL-(?:1\\.[01]|2\\.0)", "EPL-[12]\\.0", "EUPL-1\\.[0-2]", "CDDL-1\\.[01]", "CECILL-(?:2\\.[01]|[BC])", "Artistic-(?:1\\.0|2\\.0)", "Unlicense", "WTFPL", "Zlib", "BSL-1\\.0", "Python-2\\.0", "PSF-2\\.0", "NCSA", "PostgreSQL", "AFL-3\\.0", "OFL-1\\.1", "GFDL-1\\.[1-3](?:-only|-or-later)?", "MS-PL", "UPL-1\\.0", "ECL-2\\.0",
].join("|")})$`, "i");

/** True for an SPDX identifier, or an SPDX expression of them. */
function isSpdx(text: string): boolean {
  const parts = text.replace(/[()]/g, " ").trim().split(/\s+(?:AND|OR|WITH)\s+/);
  return text.length <= 200 && parts.every((part, index) => SPDX.test(part) || (index > 0 && /-exception(?:-[\d.]+)?$/i.test(part)));
}

export const isWebAddress = (text: string): boolean => /^https?:\/\/[^\s/]+\.\S+$/i.test(text) && URL.canParse(text);

/** True for a licence that a machine can tell from another: an address, or an SPDX identifier. */
export const isLicence = (text: string): boolean => isWebAddress(text.trim()) || isSpdx(text.trim());
