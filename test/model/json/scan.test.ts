import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GraphScanner } from "../../../src/model/json/scan.js";

/** What is found in a text that arrives in chunks of this size, by its offset in the text. */
function marks(text: string, size: number): [string, number][] {
  const bytes = Buffer.from(text);
  const scanner = new GraphScanner();
  const found: [string, number][] = [];
  for (let from = 0; from < bytes.length; from += size)
    scanner.scan(bytes.subarray(from, from + size), (mark, at) => found.push([mark, from + at]));
  return found;
}

const text = fc.stringMatching(/^[\\"[\]{},:@ä ]{0,60}$/);

describe("the entities of a metadata text", () => {
  it("are found in chunks of any size, whatever the strings contain", () => {
    const entity = fc.dictionary(text, fc.oneof(text, fc.array(text), fc.integer()));
    const document = fc.record({ "@context": text, "@graph": fc.array(entity), name: text });
    fc.assert(
      fc.property(document, fc.integer({ min: 1, max: 40 }), (value, size) => {
        const written = JSON.stringify(value);
        const found = marks(written, size);
        expect(found).toEqual(marks(written, written.length * 2));
        const bytes = Buffer.from(written);
        const [begins, ends] = ["entity", "entityEnd"].map((name) =>
          found.filter(([mark]) => mark === name).map(([, at]) => at),
        );
        expect(
          begins!.map((at, index): unknown =>
            JSON.parse(bytes.subarray(at, ends![index]! + 1).toString()),
          ),
        ).toEqual(JSON.parse(JSON.stringify(value["@graph"])));
      }),
    );
  });

  it("are not looked for in a member with another name", () => {
    expect(marks('{"graph":[{}],"x":["@graph"],"y":{"@graph":[{}]}}', 7)).toEqual([]);
  });
});
