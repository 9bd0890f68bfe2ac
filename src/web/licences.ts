/** Licences that forms offer. Used by the server and in the browser. */
export const LICENCES = [
  ["https://creativecommons.org/licenses/by/4.0/", "CC BY 4.0: others may use it and name you"],
  ["https://creativecommons.org/publicdomain/zero/1.0/", "CC0: no conditions"],
  ["https://creativecommons.org/licenses/by-nc/4.0/", "CC BY-NC 4.0: not for commercial use"],
  ["https://spdx.org/licenses/MIT", "MIT (software)"],
  ["https://spdx.org/licenses/Apache-2.0", "Apache 2.0 (software)"],
] as const;
