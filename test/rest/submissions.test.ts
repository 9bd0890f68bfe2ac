import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import type { InProcessJobQueue } from "../../src/jobs/in-process/job-queue.js";
import { sweepObjects } from "../../src/services/objects/damage.js";
import { crate } from "../support/crates.js";
import { largeCrate } from "../support/large-crate.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Json, User } from "../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
let bob: User;
beforeAll(async () => {
  registry = await LiveRegistry.start({ MAX_EVENT_STREAMS: "3", EVENT_HEARTBEAT: "50ms" });
  [ada, bob] = await Promise.all([registry.user("Ada"), registry.user("Bob")]);
});
afterAll(() => registry?.stop());

/** A submission that stays queued: nothing runs it. */
async function queued(user: User): Promise<string> {
  const { submission } = await registry.deps.records.submit({
    id: randomUUID(),
    type: "crate",
    user: user.ark,
    sha256: null,
    input: {},
    at: Date.now(),
  });
  return submission.id;
}
const status = (id: string) => `/rocrate/upload/status/${id}`;
const watchers = (): number => (registry.deps.jobs as InProcessJobQueue).watchers.size;
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 100_000;
  // Some stages take a few milliseconds only.
  while (!(await holds())) {
    if (Date.now() > end) throw new Error("it never came to that");
    await sleep(1);
  }
}

/** A stream of events as it comes in. */
async function stream(
  id: string,
  {
    token = ada.token,
    on = registry,
    last,
  }: { token?: string; on?: LiveRegistry; last?: string } = {},
) {
  const abort = new AbortController();
  const response = await fetch(on.url + status(id), {
    signal: abort.signal,
    headers: {
      Accept: "text/event-stream",
      Authorization: `Bearer ${token}`,
      ...(last === undefined ? {} : { "Last-Event-ID": last }),
    },
  });
  const logged = { text: "", ended: false };
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? [])
      logged.text += decoder.decode(chunk, { stream: true });
    logged.ended = true;
  })().catch(() => undefined);
  const events = () =>
    logged.text
      .split("\n\n")
      .filter((block) => block.startsWith("event:"))
      .map((block) => {
        const [event, eventId, data] = block
          .split("\n")
          .map((line) => line.slice(line.indexOf(":") + 2));
        return { event, id: eventId, data: JSON.parse(data!) as Json };
      });
  return { response, logged, reading, events, abort };
}

describe("the list of one's uploads", () => {
  it("is paged, newest first, and lists one's own only", async () => {
    const ids = [await queued(bob), await queued(bob), await queued(bob)];
    await queued(ada);
    const first = await registry.ask("/rocrate/upload/status?limit=2", { token: bob.token });
    expect((first.body as unknown as Json[]).map((one) => one["submissionUUID"])).toEqual([
      ids[2],
      ids[1],
    ]);
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get("link")!)![1]!;
    const second = await registry.ask(next, { token: bob.token });
    expect((second.body as unknown as Json[]).map((one) => one["submissionUUID"])).toEqual([
      ids[0],
    ]);
    expect(second.headers.get("link")).toBeNull();
    expect((await registry.ask("/rocrate/upload/status")).status).toBe(401);
    expect(
      (await registry.ask("/rocrate/upload/status?limit=x", { token: bob.token })).status,
    ).toBe(422);
    expect(
      (await registry.ask("/rocrate/upload/status?cursor=x", { token: bob.token })).status,
    ).toBe(400);
  });
});

describe("cancelling an upload", () => {
  it("ends a queued one, once, and for its uploader only", async () => {
    const id = await queued(ada);
    expect((await registry.ask(status(id), { method: "DELETE", token: bob.token })).status).toBe(
      404,
    );
    expect((await registry.ask(status(id), { method: "DELETE" })).status).toBe(401);
    expect(await registry.ask(status(id), { method: "DELETE", token: ada.token })).toMatchObject({
      status: 200,
      body: { status: "failed", error: [{ code: "CANCELLED" }] },
    });
    expect(await registry.ask(status(id), { method: "DELETE", token: ada.token })).toMatchObject({
      status: 409,
      body: { code: "NOT_CANCELLABLE" },
    });
  });

  it.each(["reading archive", "storing files", "building records"])(
    "leaves neither a record nor an object of one that is %s",
    async (stage) => {
      const archive = await largeCrate(`cancelled while ${stage}`, 6000);
      const before = await registry.recordCount();
      const { submissionUUID: id } = (await registry.upload(archive, ada.token)).body;
      await until(async () => (await registry.deps.jobs.progress(id as string))?.stage === stage);
      expect(
        (await registry.ask(status(id as string), { method: "DELETE", token: ada.token })).status,
      ).toBe(200);
      expect(await registry.settled(id as string, ada.token)).toMatchObject({
        status: "failed",
        error: [{ code: "CANCELLED" }],
        rocrateIdentifier: null,
      });
      expect(await registry.recordCount()).toBe(before);
      // Well within the life of an announcement: nothing is announced any more.
      await sweepObjects({
        objects: registry.deps.objects,
        records: registry.deps.records,
        intentLifetime: 86_400_000,
      });
      const left: string[] = [];
      for await (const key of registry.deps.objects.list()) left.push(key);
      expect(left).toEqual([]);
      expect(await readdir(join(registry.deps.config.DATA_DIR, "objects", "staging"))).toEqual([]);
    },
  );
});

describe("retrying an upload", () => {
  /** A submission that failed although its archive is stored: it was cancelled in time. */
  async function failed(archive: Uint8Array, user: User): Promise<string> {
    const staged = await registry.deps.objects.stage(Readable.from([archive]));
    await staged.publish();
    const { submission } = await registry.deps.records.submit({
      id: randomUUID(),
      type: "crate",
      user: user.ark,
      sha256: staged.sha256,
      input: { name: "again.zip" },
      at: Date.now(),
    });
    await registry.ask(status(submission.id), { method: "DELETE", token: user.token });
    return submission.id;
  }
  const retry = (id: string, token?: string) =>
    registry.ask(status(id), { method: "POST", ...(token === undefined ? {} : { token }) });
  const retryable = async (id: string): Promise<boolean> =>
    (
      await registry.graphql(
        "query ($id: ID!) { submission(id: $id) { retryable } }",
        { id },
        ada.token,
      )
    ).body["data"].submission.retryable;

  it("submits the stored archive again, for its uploader only, and leaves the failed one", async () => {
    const archive = await crate([], { "a.txt": "retried" }, { name: "Retried" });
    const id = await failed(archive, ada);
    expect(await retryable(id)).toBe(true);
    expect((await retry(id)).status).toBe(401);
    expect((await retry(id, bob.token)).status).toBe(404);
    const again = await retry(id, ada.token);
    expect(again).toMatchObject({ status: 200, body: { completed: false } });
    expect(again.body["submissionUUID"]).not.toBe(id);
    expect(await registry.settled(again.body["submissionUUID"] as string, ada.token)).toMatchObject(
      { status: "finished", success: true, stage: "done" },
    );
    expect((await registry.ask(status(id), { token: ada.token })).body["status"]).toBe("failed");
    expect(await retry(again.body["submissionUUID"] as string, ada.token)).toMatchObject({
      status: 409,
      body: { code: "NOT_RETRYABLE" },
    });
  });

  it("is refused once the archive was removed, and for what brought none", async () => {
    const id = await failed(await crate([], { "b.txt": "removed" }), ada);
    await sweepObjects({
      objects: registry.deps.objects,
      records: registry.deps.records,
      intentLifetime: 86_400_000,
    });
    expect(await retryable(id)).toBe(false);
    const refused = await retry(id, ada.token);
    expect(refused).toMatchObject({ status: 409, body: { code: "NOT_RETRYABLE" } });
    expect(refused.text).toContain("send the archive again");
    const bare = await queued(ada);
    await registry.ask(status(bare), { method: "DELETE", token: ada.token });
    expect((await retry(bare, ada.token)).body["code"]).toBe("NOT_RETRYABLE");
  });
});

describe("an upload's progress, as server-sent events", () => {
  it("begins with its state, reports each change, and completes with the final state", async () => {
    const archive = await largeCrate("followed", 2000);
    const { submissionUUID: id } = (await registry.upload(archive, ada.token)).body;
    const { response, reading, events } = await stream(id as string);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    await reading;
    const seen = events();
    expect(seen.every(({ event }) => event === "submission")).toBe(true);
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.slice(0, -1).every(({ data }) => data["completed"] === false)).toBe(true);
    expect(seen.at(-1)).toMatchObject({
      id: "completed",
      data: { submissionUUID: id, status: "finished", success: true, stage: "done" },
    });
    expect(await registry.ask(status(id as string), { token: ada.token })).toMatchObject({
      body: seen.at(-1)!.data,
    });
    // A browser comes back after the end, and is told that this was it.
    expect((await stream(id as string, { last: "completed" })).response.status).toBe(204);
    expect((await stream(id as string, { last: "2" })).response.status).toBe(200);
  });

  it("is for its uploader, and refused as JSON", async () => {
    const id = await queued(ada);
    expect((await stream(id, { token: bob.token })).response.status).toBe(404);
    const refused = await stream(randomUUID());
    expect([refused.response.status, refused.response.headers.get("content-type")]).toEqual([
      404,
      "application/json",
    ]);
  });

  it(
    "sends heartbeats while nothing happens, and frees its resources when the client " +
      "disconnects",
    async () => {
      const id = await queued(ada);
      const before = watchers();
      const { logged, abort, reading } = await stream(id);
      await until(() => logged.text.split("\n").filter((line) => line === ":").length >= 2);
      expect(watchers()).toBe(before + 1);
      abort.abort();
      await reading;
      await until(() => watchers() === before);
    },
  );

  it("ends when the submission is cancelled", async () => {
    const id = await queued(ada);
    const { reading, events } = await stream(id);
    await registry.ask(status(id), { method: "DELETE", token: ada.token });
    await reading;
    expect(events().at(-1)).toMatchObject({
      data: { status: "failed", error: [{ code: "CANCELLED" }] },
    });
  });

  it("is limited to MAX_EVENT_STREAMS concurrent streams", async () => {
    const id = await queued(ada);
    const open = await Promise.all([stream(id), stream(id), stream(id)]);
    const refused = await stream(id);
    expect([refused.response.status, refused.response.headers.get("retry-after")]).toEqual([
      429,
      "10",
    ]);
    await until(() => refused.logged.ended);
    expect(JSON.parse(refused.logged.text)).toMatchObject({
      code: "TOO_MANY_REQUESTS",
      detail: expect.stringContaining("MAX_EVENT_STREAMS"),
    });
    for (const { abort, reading } of open) {
      abort.abort();
      await reading;
    }
    await until(() => watchers() === 0);
    const again = await stream(id);
    expect(again.response.status).toBe(200);
    again.abort.abort();
  });

  it("ends at once when the registry stops", async () => {
    const other = await LiveRegistry.start({ SHUTDOWN_GRACE: "20s" });
    const eve = await other.user("Eve");
    const { submission } = await other.deps.records.submit({
      id: randomUUID(),
      type: "crate",
      user: eve.ark,
      sha256: null,
      input: {},
      at: Date.now(),
    });
    const { logged, reading } = await stream(submission.id, { token: eve.token, on: other });
    await until(() => logged.text.includes("queued"));
    const stopped = other.stop();
    await reading;
    expect(logged.ended).toBe(true);
    await stopped;
  });
});

describe("uploading again over REST and GraphQL", () => {
  it("is a conflict whose message names update, and an update with it", async () => {
    const root = { "@id": "ark:99999/again", name: "Again" };
    await registry.take(
      await crate([{ "@id": "a.csv", "@type": "File", name: "A" }], { "a.csv": "a" }, root),
      ada.token,
    );
    const changed = await crate(
      [{ "@id": "a.csv", "@type": "File", name: "B" }],
      { "a.csv": "a" },
      root,
    );
    const refused = await registry.upload(changed, ada.token, { path: "/rocrate/upload" });
    expect(refused).toMatchObject({
      status: 409,
      body: { code: "CRATE_EXISTS", detail: expect.stringContaining("?update=true") },
    });
    expect(
      await registry.upload(changed, bob.token, { path: "/rocrate/upload?update=true" }),
    ).toMatchObject({ status: 409, body: { code: "IDENTIFIER_TAKEN" } });
    expect(
      await registry.upload(changed, ada.token, { path: "/rocrate/upload?update=maybe" }),
    ).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["query", "update"], type: "bool_parsing" }] },
    });
    const updated = await registry.upload(changed, ada.token, {
      path: "/rocrate/upload?update=true",
    });
    expect(updated, updated.text).toMatchObject({
      status: 200,
      body: { "@id": root["@id"], submission: { status: "finished" } },
    });
    expect(await registry.ask("/ark:99999/again/a.csv/history")).toMatchObject({
      body: {
        revisions: [
          { revision: 2, action: "update", changed: ["/name"], by: ada.ark },
          { revision: 1 },
        ],
      },
    });
  });

  it("is the same mutation with update: true", async () => {
    const form = new FormData();
    form.set(
      "operations",
      JSON.stringify({
        query:
          "mutation ($file: Upload!) { uploadCrate(input: { source: { archive: $file }, update: true }) { submission { id } } }",
        variables: { file: null },
      }),
    );
    form.set("map", JSON.stringify({ 0: ["variables.file"] }));
    form.set(
      "0",
      new Blob([
        new Uint8Array(
          await crate(
            [{ "@id": "a.csv", "@type": "File", name: "C" }],
            { "a.csv": "a" },
            { "@id": "ark:99999/again", name: "Again" },
          ),
        ),
      ]),
      "crate.zip",
    );
    const answer = await registry.ask("/graphql", {
      token: ada.token,
      body: form,
      headers: { "apollo-require-preflight": "1" },
    });
    expect(
      await registry.settled(answer.body["data"].uploadCrate.submission.id as string, ada.token),
    ).toMatchObject({ status: "finished", identifiersMinted: 0 });
    expect((await registry.ask("/ark:99999/again/a.csv")).body).toMatchObject({ name: "C" });
  });

  it("of the exported metadata alone changes the records that differ and leaves the files", async () => {
    const { body } = await registry.ask("/rocrate/ark:99999/again");
    const changed = {
      ...body,
      "@graph": body["@graph"].map((one: Json) =>
        one["@id"] === "ark:99999/again/a.csv" ? { ...one, name: "D" } : one,
      ),
    };
    expect(
      await registry.ask("/rocrate/metadata", { token: ada.token, body: changed }),
    ).toMatchObject({ status: 409, body: { code: "CRATE_EXISTS" } });
    const updated = await registry.ask("/rocrate/metadata?update=true", {
      token: ada.token,
      body: changed,
    });
    expect(updated, updated.text).toMatchObject({
      status: 200,
      body: { submission: { status: "finished", identifiersMinted: 0 } },
    });
    expect((await registry.ask("/ark:99999/again/a.csv")).body).toMatchObject({ name: "D" });
    expect(
      (await registry.ask("/datadownload/ark:99999/again/a.csv/download", { token: ada.token }))
        .text,
    ).toBe("a");
    expect(
      (await registry.ask("/rocrate/archived/download/ark:99999/again", { token: ada.token }))
        .status,
    ).toBe(200);
  });

  it("of the exported demo crate preserves the answers about its provenance", async () => {
    const { rocrateIdentifier: root } = await registry.take(await buildDemoCrate(), ada.token);
    const computations = async () => (await registry.ask("/computation")).body as unknown as Json[];
    const before = await computations();
    const back = await fetch(`${registry.url}/rocrate/${root}?format=zip`, {
      headers: { Authorization: `Bearer ${ada.token}` },
    });
    const again = await registry.upload(new Uint8Array(await back.arrayBuffer()), ada.token, {
      path: "/rocrate/upload?update=true",
    });
    expect(again.body["submission"], again.text).toMatchObject({
      status: "finished",
      identifiersMinted: 0,
    });
    expect(await computations()).toEqual(before);
  });
});
