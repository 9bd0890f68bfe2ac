import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { writeEvidence } from "../../../src/services/evidence/written.js";
import { arkFrom } from "../../support/arks.js";
import { LiveRegistry } from "../../support/live-registry.js";
import type { Json, User } from "../../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user("Ada");
});
afterAll(() => registry.stop());

async function dataset(document: Json = {}): Promise<string> {
  const { status, body, text } = await registry.ask("/dataset", {
    token: ada.token,
    body: {
      "@type": "evi:Dataset",
      owner: ada.ark,
      description: "For a test.",
      name: "Cells",
      ...document,
    },
  });
  expect(status, text).toBe(200);
  return body["@id"] as string;
}
const evidence = (id: string, query = "") => registry.ask(`/evidencegraph/query/${id}${query}`);

/** What `act` answers, and how many questions the index got meanwhile. */
async function asking<T>(act: () => Promise<T>): Promise<[T, number]> {
  const { queries } = registry.deps;
  if (!("evidence" in queries)) throw new Error("the default index answers evidence");
  const asked = vi.spyOn(queries, "evidence");
  try {
    const answer = await act();
    return [answer, asked.mock.calls.length];
  } finally {
    asked.mockRestore();
  }
}

describe("a repeated question about evidence", () => {
  it("gets the same bytes without a question to the index, for every caller", async () => {
    const id = await dataset();
    const [first, asked] = await asking(() => evidence(id));
    const [second, askedAgain] = await asking(() => evidence(id));
    expect(asked).toBeGreaterThan(0);
    expect(askedAgain).toBe(0);
    expect(second.text).toBe(first.text);
    const other = await registry.user("Grace");
    const [before] = await asking(() => evidence(id));
    const [theirs, askedByOther] = await asking(() =>
      registry.ask(`/evidencegraph/query/${id}`, { token: other.token }),
    );
    expect(askedByOther).toBe(0);
    expect(theirs.text).toBe(before.text);
  });

  it("is another question with other parameters", async () => {
    const source = await dataset();
    const id = await dataset({ derivedFrom: source });
    const up = await evidence(id);
    await evidence(id);
    expect((await evidence(id, "?direction=downstream")).body["@graph"]).toHaveLength(1);
    expect(up.body["@graph"]).toHaveLength(2);
    expect((await evidence(id, "?limit=1")).body).toMatchObject({ truncated: true });
  });

  it("is answered anew after a commit: another name, another statement, another owner", async () => {
    const source = await dataset();
    const id = await dataset({ derivedFrom: source });
    await evidence(id);
    expect((await evidence(id)).body["@graph"]).toHaveLength(2);
    const put = await registry.ask("/dataset", {
      method: "PUT",
      token: ada.token,
      body: {
        "@id": source,
        "@type": "evi:Dataset",
        owner: ada.ark,
        description: "For a test.",
        name: "Renamed",
      },
    });
    expect(put.status, put.text).toBe(200);
    const renamed = (await evidence(id)).body["@graph"] as Json[];
    expect(renamed.map(({ name }) => name as string)).toContain("Renamed");
    await dataset({ "@id": `ark:99999/of-${randomUUID().slice(0, 8)}`, derivedFrom: id });
    expect((await evidence(id, "?direction=both")).body["@graph"]).toHaveLength(3);
  });

  it("is refused once the record is deleted, and without a valid range", async () => {
    const id = await dataset();
    await evidence(id);
    const { status } = await evidence(id);
    expect(status).toBe(200);
    await registry.ask(`/dataset/${id}`, { method: "DELETE", token: ada.token });
    expect((await evidence(id)).status).toBe(410);
    expect((await evidence(id, "?limit=0")).status).toBe(422);
  });

  it("is not stored where the answer is larger than a sixteenth of EVIDENCE_CACHE", async () => {
    const id = await dataset();
    const ask = (cached: number) =>
      asking(async () => {
        const request = { ark: arkFrom(id), direction: "upstream", limit: 10 } as const;
        for await (const _ of writeEvidence(request, registry.deps, cached));
      });
    expect((await ask(0))[1]).toBeGreaterThan(0);
    expect((await ask(1024))[1]).toBeGreaterThan(0);
    expect((await ask(2 ** 20))[1]).toBeGreaterThan(0);
    expect((await ask(2 ** 20))[1]).toBe(0);
  });

  it("drops answers beyond EVIDENCE_CACHE, those not used for longest first", async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, () => dataset()));
    const ask = async (id: string): Promise<number> => {
      const request = { ark: arkFrom(id), direction: "upstream", limit: 10 } as const;
      return (
        await asking(async () => {
          for await (const _ of writeEvidence(request, registry.deps, 32 * 2 ** 10));
        })
      )[1];
    };
    for (const id of ids) await ask(id);
    expect(await ask(ids.at(-1)!)).toBe(0);
    expect(await ask(ids[0]!)).toBeGreaterThan(0);
  });
});
