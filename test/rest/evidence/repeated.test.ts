import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { writeEvidence } from "../../../src/services/evidence/evidence-graph.js";
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
  const asked = vi.spyOn(queries, "table");
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

  it("is answered anew after a commit: another name, another statement", async () => {
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

  it("names the new owner after a transfer", async () => {
    const id = await dataset({ derivedFrom: await dataset() });
    const made = await registry.ask("/group", {
      token: ada.token,
      body: { "@type": "Organization", name: "Lab", description: "For a test.", owner: ada.ark },
    });
    expect(made.status, made.text).toBe(200);
    const group = made.body["@id"] as string;
    /** Of those who state the edge from the record. */
    const owners = async (): Promise<string[]> =>
      [...(await evidence(id)).text.matchAll(/"owner":"([^"]+)"/g)].map(([, owner]) => owner!);
    const before = await owners();
    expect(before).toEqual([ada.ark]);
    expect(await asking(owners)).toEqual([before, 0]);
    const { body } = await registry.ask("/records/transfer", {
      token: ada.token,
      body: { ids: [id], owner: group },
    });
    expect(body).toMatchObject([{ "@id": id, done: true }]);
    expect(await owners()).toEqual([group]);
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

  it("is refused with a token that is not valid, as if nothing were stored", async () => {
    const id = await dataset();
    const path = `/evidencegraph/query/${id}`;
    await registry.ask(path, { token: ada.token });
    expect((await registry.ask(path, { token: ada.token })).status).toBe(200);
    expect((await registry.ask(path, { token: `${ada.token}x` })).status).toBe(401);
  });

  /** Asks with a cache of so many bytes: how many questions the index got, and the answer's bytes. */
  async function askWith(cached: number, id: string, limit = 10): Promise<[number, number]> {
    const [bytes, asked] = await asking(async () => {
      let length = 0;
      const request = { ark: arkFrom(id), direction: "upstream", limit } as const;
      for await (const part of writeEvidence(request, registry.deps, cached)) length += part.length;
      return length;
    });
    return [asked, bytes];
  }
  const asked = async (...question: Parameters<typeof askWith>) => (await askWith(...question))[0];

  it("is not stored where the answer is larger than a sixteenth of EVIDENCE_CACHE", async () => {
    const id = await dataset();
    expect(await asked(0, id)).toBeGreaterThan(0);
    expect(await asked(0, id)).toBeGreaterThan(0);
    expect(await asked(1024, id)).toBeGreaterThan(0);
    expect(await asked(1024, id)).toBeGreaterThan(0);
    expect(await asked(2 ** 20, id)).toBeGreaterThan(0);
    expect(await asked(2 ** 20, id)).toBe(0);
  });

  it("drops answers beyond EVIDENCE_CACHE, those not used for longest first", async () => {
    const ids = await Promise.all(Array.from({ length: 42 }, () => dataset()));
    const [, bytes] = await askWith(0, ids[0]!);
    const cached = 24 * bytes;
    const [first, second, ...others] = ids as [string, string, ...string[]];
    await asked(cached, first);
    await asked(cached, second);
    for (const id of others) {
      await asked(cached, id);
      // Used again and again, so it stays, though it is the oldest.
      expect(await asked(cached, first)).toBe(0);
    }
    expect(await asked(cached, others[39]!)).toBe(0);
    expect(await asked(cached, second)).toBeGreaterThan(0);
  });

  it("counts as many bytes as its answer and the question have", async () => {
    const id = await dataset();
    const [, bytes] = await askWith(0, id);
    const cached = 40 * bytes;
    for (let limit = 10; limit < 50; limit++) await asked(cached, id, limit);
    expect(await asked(cached, id, 49)).toBe(0);
    expect(await asked(cached, id, 10)).toBeGreaterThan(0);
  });
});
