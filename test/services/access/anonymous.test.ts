import { describe, expect, it } from "vitest";
import { withoutContacts } from "../../../src/services/access/anonymous.js";

describe("contacts within a text", () => {
  it.each([
    ["Ask jane.doe+lab@example.org for it", "Ask [hidden] for it"],
    ["<mailto:jane@example.org>", "<[hidden]>"],
    ["josé@exämple.org, 李雷@例子.公司", "[hidden], [hidden]"],
    ["o'neil@mail.example.co.uk.", "[hidden]."],
    ["https://orcid.org/0000-0002-1825-0097", "[hidden]"],
    ["ORCID: 0000-0002-1694-233X;", "ORCID: [hidden];"],
    ["5 @ 20 °C, x@y", "5 @ 20 °C, x@y"],
  ])("%s", (text, shown) => {
    expect(withoutContacts(text)).toBe(shown);
  });

  it("are found in time that grows with the text", () => {
    for (const run of ["a", "a.", "a@", "a@a.", "0000-"]) {
      const text = run.repeat(1_000_000 / run.length);
      expect(withoutContacts(`${text} jane@example.org`).endsWith(" [hidden]")).toBe(true);
    }
  });
});
