import { describe, expect, it } from "vitest";
import { KINDS } from "../../src/model/kinds.js";
import { licenceName, licenceOf } from "../../src/model/licences.js";

describe("the name of a licence", () => {
  it.each([
    [" https://creativecommons.org/licenses/by/4.0/", "CC-BY-4.0"],
    ["http://www.creativecommons.org/licenses/by-nc-sa/3.0/us/deed.en", "CC-BY-NC-SA-3.0-US"],
    ["https://creativecommons.org/publicdomain/zero/1.0/legalcode", "CC0-1.0"],
    ["cc-by-4.0", "CC-BY-4.0"],
    ["APACHE-2.0", "Apache-2.0"],
    ["https://www.apache.org/licenses/LICENSE-2.0.html", "Apache-2.0"],
    ["https://opensource.org/license/apache-2-0", "Apache-2.0"],
    ["https://opensource.org/licenses/BSD-3-Clause", "BSD-3-Clause"],
    ["bsd-3-clause-Clear", "BSD-3-Clause-Clear"],
    ["https://spdx.org/licenses/MIT.json", "MIT"],
    ["https://www.gnu.org/licenses/gpl-3.0.en.html", "GPL-3.0"],
    ["GPL-3.0-OR-LATER", "GPL-3.0-or-later"],
    ["https://www.mozilla.org/en-US/MPL/2.0/", "MPL-2.0"],
    ["https://opendatacommons.org/licenses/odbl/1-0/", "ODbL-1.0"],
    ["odc-by-1.0", "ODC-By-1.0"],
    ["etalab-2.0", "etalab-2.0"],
  ])("%s is %s", (text, name) => expect(licenceName(text)).toBe(name));

  it("is the text itself for any other, without blanks around it, up to a length", () => {
    for (const text of ["https://example.org/Terms", "On request", "MIT AND Zlib", "", "CC-BY-9.9"])
      expect(licenceName(` ${text} `)).toBe(text);
    expect(licenceName("x".repeat(10_000))).toHaveLength(500);
    expect(licenceName(`https://opensource.org/licenses/${"a-".repeat(100_000)}`)).toHaveLength(
      500,
    );
    expect(licenceName("a\0b\ud800")).toBe("a b\ufffd");
  });
});

describe("the licence of a record", () => {
  it("is the first that others may see", () => {
    const of = (license: unknown, kind: keyof typeof KINDS = "dataset") =>
      licenceOf(KINDS[kind], { license } as never);
    expect(of("mit")).toBe("MIT");
    expect(of({ "@id": "https://spdx.org/licenses/MIT" })).toBe("MIT");
    expect(of([{ "@id": "https://spdx.org/licenses/MIT" }, "Zlib"])).toBe("MIT");
    for (const none of [undefined, null, "", " ", 3, [], {}, { name: "MIT" }, [["MIT"]]])
      expect(of(none)).toBeNull();
    expect(of("MIT", "user")).toBeNull();
  });
});
