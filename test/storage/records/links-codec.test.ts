import { describe, expect, it } from "vitest";
import { packLinks, unpackLinks } from "../../../src/storage/records/codecs.js";

const links = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    predicate: "evi:used",
    target: `ark:99999/é-${index}`,
    targetKey: `ark:99999/é${index}`,
  }));

describe("links between threads", () => {
  it("are a list while they are few, and are returned unchanged when they are many", () => {
    expect(packLinks(links(50))).toEqual(links(50));
    const packed = packLinks(links(100_000));
    expect(packed).toBeInstanceOf(Uint8Array);
    expect(packLinks(packed)).toBe(packed);
    expect(unpackLinks(packed)).toEqual(links(100_000));
    expect(unpackLinks(links(3))).toEqual(links(3));
  });
});
