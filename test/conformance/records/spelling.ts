import { describe, expect, test } from "vitest";
import { packLinks, packQuads } from "../../../src/storage/records/codecs.js";
import { create, linkTo, quadsOf, remove, replace, type Setting, write } from "./fixtures.js";
import { arkFrom } from "../../support/arks.js";

const [SOURCE, OWNED, WRITTEN] = ["ark:99999/source", "ark:99999/a-b", "ark:99999/ab"] as const;

export function spellingConforms({ store }: Setting): void {
  const expectTarget = async (target: string): Promise<void> => {
    expect(await store().quads(SOURCE)).toBe(quadsOf(SOURCE, "A table", [linkTo(target)]));
  };

  describe("in the graph a link's target", () => {
    test("is spelled as its record spells it, whichever was stored first", async () => {
      await write(store(), create(OWNED));
      await write(store(), create(SOURCE, { links: [linkTo(WRITTEN)] }));
      await expectTarget(OWNED);
      await write(
        store(),
        create("ark:99999/s2", { links: [linkTo("ark:99999/cd")] }),
        create("ark:99999/c-d"),
      );
      expect(await store().quads("ark:99999/s2")).toContain("<ark:99999/c-d>");
    });

    test("is spelled so where quads and links come packed, as those of large documents do", async () => {
      await write(store(), create(OWNED));
      const links = [linkTo(WRITTEN)];
      const packed = {
        quads: packQuads(quadsOf(SOURCE, "A table", links)),
        links: packLinks(links),
      };
      await write(store(), create(SOURCE, {}, packed));
      await expectTarget(OWNED);
    });

    test("is respelled when its record is created, without a revision but in the change log", async () => {
      await write(store(), create(SOURCE, { links: [linkTo(WRITTEN), linkTo("ark:99999/a--b")] }));
      expect(await store().quads(SOURCE)).toContain(`<${WRITTEN}>`);
      await write(store(), create(OWNED));
      await expectTarget(OWNED);
      expect(await store().find(arkFrom(SOURCE))).toMatchObject({ record: { revision: 1 } });
      expect(
        (await store().linksFrom([SOURCE], { limit: 5 }))[0]!.items.map(({ target }) => target),
      ).toEqual([WRITTEN, "ark:99999/a--b"]);
      const { sequence, graphs } = await changesAfter(1);
      expect(sequence).toBe(2);
      expect(graphs).toEqual([SOURCE, OWNED]);
    });

    test("keeps this spelling after the record was deleted, and after the source changed", async () => {
      await write(store(), create(OWNED), create(SOURCE, { links: [linkTo(WRITTEN)] }));
      await write(store(), remove(OWNED, 1));
      await expectTarget(OWNED);
      await write(store(), replace(SOURCE, 1, { links: [linkTo(WRITTEN)] }));
      await expectTarget(OWNED);
    });

    test("has its written spelling again once members of a crate share the key", async () => {
      await write(
        store(),
        create(OWNED, {}, { mayShareKey: true }),
        create(SOURCE, { links: [linkTo(WRITTEN)] }),
      );
      await expectTarget(OWNED);
      await write(store(), create(WRITTEN, {}, { mayShareKey: true }));
      await expectTarget(WRITTEN);
    });
  });

  /** Sequence and identifiers of what changed after a sequence, through the feed. */
  async function changesAfter(sequence: number): Promise<{ sequence: number; graphs: string[] }> {
    const port = store().openFeed();
    const answer = await new Promise<{ sequence: number; graphs: { ark: string }[] }>((resolve) => {
      port.once("message", resolve);
      port.postMessage({ id: 1, since: { sequence, limit: 100 } });
    });
    port.close();
    return { sequence: answer.sequence, graphs: answer.graphs.map(({ ark }) => ark) };
  }
}
