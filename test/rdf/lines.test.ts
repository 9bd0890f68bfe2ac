import * as fc from "fast-check";
import { expect, it } from "vitest";
import { Lines } from "../../src/rdf/terms.js";

const subjects = fc.oneof(
  fc.constantFrom(
    "ark:99999/a",
    "ark:99999/a#genid-0",
    "ark:99999/a#genid-10",
    "ark:99999/ab",
    "https://example.org/",
    "urn:x",
  ),
  fc.stringMatching(/^urn:[a-z0-9!#$%&'()*+,./:;=?@_~é-]{0,4}$/),
);
const remainders = fc.stringMatching(/^<[a-c]> [<"][a-c\\é]{0,3}[>"] <g> \.$/);

it(
  "a merge of sorted lines equals sorting whole lines without duplicates, whatever " +
    "subjects begin with",
  () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(subjects, remainders), { maxLength: 40 }), (stated) => {
        const lines = new Lines();
        for (const [subject, rest] of stated) lines.add(subject, rest);
        const whole = [
          ...new Set(stated.map(([subject, rest]) => `<${subject}> ${rest}\n`)),
        ].sort();
        expect(lines.text()).toBe(whole.join(""));
      }),
      { numRuns: 500 },
    );
  },
);
