import { createClient, type Client } from "graphql-sse";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { InProcessJobQueue } from "../../src/jobs/in-process/job-queue.js";
import { openFeeds } from "../../src/services/records/changes.js";
import { bodyOf } from "../support/bodies.js";
import { Browser } from "../support/browser.js";
import { RECORD_CHANGES } from "../support/graphql-streams.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Json, User } from "../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
let bob: User;
beforeAll(async () => {
  registry = await LiveRegistry.start({
    GRAPHQL_MAX_SUBSCRIPTIONS: "3",
    GRAPHQL_MAX_RESERVATIONS: "20",
    GRAPHQL_RESERVATION_TIME: "2s",
    MAX_CHANGE_FEEDS: "40",
  });
  [ada, bob] = await Promise.all([registry.user("Ada"), registry.user("Bob")]);
});
afterAll(() => registry?.stop());

const TOKEN = "X-GraphQL-Event-Stream-Token";
const EVENTS = { Accept: "text/event-stream" };
const ME = "{ me { name } }";
const PROGRESS = "subscription ($id: ID!) { submissionProgress(id: $id) { status } }";
const watchers = (): number => (registry.deps.jobs as InProcessJobQueue).watchers.size;
const until = (holds: () => boolean) => expect.poll(holds, { timeout: 20_000 }).toBe(true);
const codeOf = ({ body }: { body: Json }): string => body["errors"][0].extensions.code as string;

/** A submission that stays queued: nothing runs it. */
async function queued(user: User): Promise<string> {
  const { submission } = await registry.deps.records.submit({
    id: crypto.randomUUID(),
    type: "crate",
    user: user.ark,
    sha256: null,
    input: {},
    at: Date.now(),
  });
  return submission.id;
}

/** The requests of the protocol, one by one. */
const reserve = (token?: string) => registry.ask("/graphql/stream", { method: "PUT", token });
const begin = (reservation: string, id: string, query: string, sent: Json = {}, token?: string) =>
  registry.ask("/graphql/stream", {
    token,
    headers: { [TOKEN]: reservation },
    body: { query, extensions: { operationId: id }, ...sent },
  });
const complete = (reservation: string, id: string, token?: string) =>
  registry.ask(`/graphql/stream?operationId=${id}`, {
    method: "DELETE",
    token,
    headers: { [TOKEN]: reservation },
  });
const open: AbortController[] = [];
const clients: Client<true>[] = [];
afterEach(() => {
  for (const leave of open.splice(0)) leave.abort();
  for (const client of clients.splice(0)) client.dispose();
});

interface Opened {
  status: number;
  /** Everything that arrived until now. */
  text(): string;
  closed(): boolean;
  leave(): void;
}
async function openStream(reservation: string, token?: string, more: object = {}): Promise<Opened> {
  const leave = new AbortController();
  open.push(leave);
  const response = await fetch(`${registry.url}/graphql/stream`, {
    headers: {
      ...EVENTS,
      [TOKEN]: reservation,
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...more,
    },
    signal: leave.signal,
  });
  let [text, closed] = ["", false];
  void (async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk;
  })()
    .catch(() => undefined)
    .finally(() => (closed = true));
  return {
    status: response.status,
    text: () => text,
    closed: () => closed,
    leave: () => leave.abort(),
  };
}
/** A reservation and its open stream. */
async function opened(token?: string): Promise<[string, Opened]> {
  const { text } = await reserve(token);
  return [text, await openStream(text, token)];
}

describe("the client of graphql-sse with a single connection", () => {
  function connect(token?: string): Client<true> {
    const client = createClient<true>({
      url: `${registry.url}/graphql/stream`,
      singleConnection: true,
      retryAttempts: 0,
      ...(token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } }),
    });
    clients.push(client);
    return client;
  }

  test("gets the results of several operations over one stream", async () => {
    const client = connect(ada.token);
    const variables = { id: await queued(ada) };
    const before = watchers();
    const streams = [1, 2].map(() => client.iterate({ query: PROGRESS, variables }));
    for (const stream of streams)
      expect((await stream.next()).value).toMatchObject({
        data: { submissionProgress: { status: "QUEUED" } },
      });
    expect(watchers()).toBe(before + 2);
    const asked = client.iterate({ query: ME });
    expect((await asked.next()).value).toEqual({
      data: { me: { name: "Ada" } },
      extensions: { cost: expect.anything() },
    });
    expect((await asked.next()).done).toBe(true);
    await streams[0]!.return!();
    await until(() => watchers() === before + 1);
    client.dispose();
    await until(() => watchers() === before);
  });

  test("gets changes of records as they are committed", async () => {
    const feed = connect(ada.token).iterate<{ recordChanges: Json }>({ query: RECORD_CHANGES });
    expect((await feed.next()).value.data.recordChanges.changes).toEqual([]);
    const sent = bodyOf("dataset", ada.ark);
    const { status, text, body } = await registry.ask("/dataset", { body: sent, token: ada.token });
    expect(status, text).toBe(200);
    expect((await feed.next()).value.data.recordChanges.changes).toMatchObject([
      { id: body["@id"], change: "CREATED" },
    ]);
  });

  test("gets the errors of an operation as its result, by the same rules as elsewhere", async () => {
    const client = connect(bob.token);
    for (const [query, code] of [
      [PROGRESS, "NOT_FOUND"],
      ["{ nothingOfTheKind }", "GRAPHQL_VALIDATION_FAILED"],
      ["{", "GRAPHQL_PARSE_FAILED"],
    ] as const) {
      const answers = client.iterate({ query, variables: { id: await queued(ada) } });
      expect((await answers.next()).value).toMatchObject({ errors: [{ extensions: { code } }] });
      expect((await answers.next()).done).toBe(true);
    }
    const mutation = `mutation { deleteRecord(input: { id: "ark:99999/x" }) { revision } }`;
    const refused = await client.iterate({ query: mutation }).next();
    expect(refused.value.errors[0].message).toContain("HTTP POST");
  });
});

describe("a reservation", () => {
  test("is a token as text, that no cache stores", async () => {
    const { status, text, headers } = await reserve();
    expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([
      201,
      "text/plain; charset=utf-8",
      "no-store",
    ]);
    expect(text).toMatch(/^[\w-]{36}$/);
    const refused = await registry.ask("/graphql/stream", {
      method: "PUT",
      headers: { Accept: "image/png" },
    });
    expect([refused.status, codeOf(refused)]).toEqual([406, "NOT_ACCEPTABLE"]);
  });

  test("is refused with an invalid token", async () => {
    const refused = await reserve("wrong");
    expect([refused.status, codeOf(refused)]).toEqual([401, "INVALID_TOKEN"]);
  });

  test("takes its token from the address too", async () => {
    const { text } = await reserve();
    const response = await fetch(`${registry.url}/graphql/stream?token=${text}`, {
      headers: EVENTS,
    });
    expect(response.status).toBe(200);
    await response.body!.cancel();
  });

  test("has one stream at a time, and ends with it", async () => {
    const [reservation, stream] = await opened(ada.token);
    const second = await registry.ask("/graphql/stream", {
      headers: { ...EVENTS, [TOKEN]: reservation },
      token: ada.token,
    });
    expect([second.status, codeOf(second)]).toEqual([409, "DUPLICATE"]);
    stream.leave();
    await expect
      .poll(async () => (await begin(reservation, "1", ME, {}, ada.token)).status)
      .toBe(404);
  });

  test("of another caller, of none or of another node is unknown", async () => {
    const { text: reservation } = await reserve(ada.token);
    const headers = { [TOKEN]: reservation };
    const answers = [
      await begin(reservation, "1", ME, {}, bob.token),
      await begin(reservation, "1", ME),
      await begin(crypto.randomUUID(), "1", ME, {}, ada.token),
      await begin("__proto__", "1", ME, {}, ada.token),
      await begin("", "1", ME, {}, ada.token),
      await complete(reservation, "1", bob.token),
      await registry.ask("/graphql/stream", {
        headers: { ...EVENTS, ...headers },
        token: bob.token,
      }),
      await registry.ask("/graphql/stream", { headers: { ...EVENTS, ...headers } }),
    ];
    for (const answer of answers) {
      expect([answer.status, codeOf(answer)]).toEqual([404, "NOT_FOUND"]);
      expect(answer.body["errors"][0].message).toContain("another node");
    }
    expect((await openStream(reservation, ada.token)).status).toBe(200);
  });

  test("without a stream holds one result of each operation, and sends them all later", async () => {
    const { text: reservation } = await reserve(ada.token);
    for (const id of ["1", "2", "3"])
      expect((await begin(reservation, id, ME, {}, ada.token)).status).toBe(202);
    const refused = await begin(reservation, "4", ME, {}, ada.token);
    expect([refused.status, codeOf(refused)]).toEqual([429, "TOO_MANY_REQUESTS"]);
    const stream = await openStream(reservation, ada.token);
    await until(() => stream.text().split("event: complete").length === 4);
    expect((await begin(reservation, "4", ME, {}, ada.token)).status).toBe(202);
  });

  test("without a stream ends after a time, with its operations", async () => {
    const before = watchers();
    const { text: reservation } = await reserve(ada.token);
    const variables = { id: await queued(ada) };
    expect((await begin(reservation, "1", PROGRESS, { variables }, ada.token)).status).toBe(202);
    expect(watchers()).toBe(before + 1);
    await until(() => watchers() === before);
    expect((await begin(reservation, "2", ME, {}, ada.token)).status).toBe(404);
  });

  test("is refused beyond the share of one client, and free again after a time", async () => {
    const cyd = await registry.user("Cyd");
    const statuses = [];
    for (let tries = 0; tries < 4; tries++) statuses.push((await reserve(cyd.token)).status);
    expect(statuses).toEqual([201, 201, 429, 429]);
    expect(codeOf(await reserve(cyd.token))).toBe("TOO_MANY_REQUESTS");
    expect((await reserve(ada.token)).status).toBe(201);
    await expect.poll(async () => (await reserve(cyd.token)).status, { timeout: 20_000 }).toBe(201);
  });

  test("ends with the access token that made it, and says so", async () => {
    const made = await registry.graphql(
      `mutation { createAccessToken(input: { name: "laptop" }) { secret accessToken { id } } }`,
      {},
      ada.token,
    );
    const { secret, accessToken } = made.body["data"].createAccessToken;
    const [reservation, stream] = await opened(secret as string);
    const before = watchers();
    const variables = { id: await queued(ada) };
    const begun = await begin(reservation, "1", PROGRESS, { variables }, secret as string);
    expect(begun.status).toBe(202);
    await registry.graphql(
      "mutation ($id: ID!) { revokeAccessToken(input: { id: $id }) { accessToken { id } } }",
      { id: accessToken.id },
      ada.token,
    );
    // Another token of the same user does not revive it.
    const asked = await begin(reservation, "2", ME, {}, ada.token);
    expect([asked.status, codeOf(asked)]).toEqual([404, "NOT_FOUND"]);
    await until(stream.closed);
    expect(stream.text()).toContain(`"id":"1","payload":{"errors":[{"message":"The token or`);
    expect(watchers()).toBe(before);
  });

  test("ends with its access token also when no request comes", async () => {
    const made = await registry.graphql(
      `mutation { createAccessToken(input: { name: "phone" }) { secret accessToken { id } } }`,
      {},
      ada.token,
    );
    const { secret, accessToken } = made.body["data"].createAccessToken;
    const [, stream] = await opened(secret as string);
    await registry.graphql(
      "mutation ($id: ID!) { revokeAccessToken(input: { id: $id }) { accessToken { id } } }",
      { id: accessToken.id },
      ada.token,
    );
    await until(stream.closed);
  });
});

describe("a reservation of a browser", () => {
  test("needs the CSRF token, and ends with the session", async () => {
    const page = await Browser.signIn(registry.url, ada);
    const put = { method: "PUT", headers: page.headers };
    const { "X-CSRF-Token": _, ...without } = page.headers;
    const refused = await registry.ask("/graphql/stream", { ...put, headers: without });
    expect([refused.status, codeOf(refused)]).toEqual([403, "CSRF_REFUSED"]);
    const { text } = await registry.ask("/graphql/stream", put);
    const stream = await openStream(text, undefined, { Cookie: page.cookie });
    expect(stream.status).toBe(200);
    const signedOut = await registry.ask("/session", { method: "DELETE", headers: page.headers });
    expect(signedOut.status).toBeLessThan(300);
    await until(stream.closed);
  });
});

describe("an operation of a reserved stream", () => {
  test("needs a name of its own", async () => {
    const [reservation, stream] = await opened();
    const variables = { first: 1 };
    const feeds = openFeeds(registry.deps);
    for (const extensions of [
      undefined,
      {},
      { operationId: "" },
      { operationId: 7 },
      { operationId: "x".repeat(101) },
    ]) {
      const refused = await begin(reservation, "", ME, { extensions });
      expect([refused.status, codeOf(refused)]).toEqual([400, "BAD_REQUEST"]);
    }
    expect((await begin(reservation, "1", RECORD_CHANGES, { variables })).status).toBe(202);
    const again = await begin(reservation, "1", RECORD_CHANGES, { variables });
    expect([again.status, codeOf(again)]).toEqual([409, "DUPLICATE"]);
    // Names of an object's own properties are no names of operations of the library.
    expect((await begin(reservation, "__proto__", ME)).status).toBe(409);
    expect((await complete(reservation, "constructor")).status).toBe(200);
    expect((await complete(reservation, "unknown")).status).toBe(200);
    expect((await complete(reservation, "")).status).toBe(400);
    expect((await complete(reservation, "1")).status).toBe(200);
    await until(() => openFeeds(registry.deps) === feeds);
    expect((await begin(reservation, "1", ME)).status).toBe(202);
    await until(() => stream.text().includes('"payload":{"data":{"me":null}'));
  });

  test("is refused while the stream has as many as one may have", async () => {
    const [reservation, stream] = await opened(ada.token);
    const before = watchers();
    const variables = { id: await queued(ada) };
    for (const id of ["1", "2", "3"])
      expect((await begin(reservation, id, PROGRESS, { variables }, ada.token)).status).toBe(202);
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async (_, id) => {
        const refused = await begin(reservation, `more ${id}`, PROGRESS, { variables }, ada.token);
        return refused.status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([429]));
    expect(watchers()).toBe(before + 3);
    stream.leave();
    await until(() => watchers() === before);
  });

  test("ends when its stream closes while it begins", async () => {
    const before = watchers();
    const variables = { id: await queued(ada) };
    for (let round = 0; round < 10; round++) {
      const [reservation, stream] = await opened(ada.token);
      const begun = [1, 2, 3].map((id) =>
        begin(reservation, String(id), PROGRESS, { variables }, ada.token).catch(() => undefined),
      );
      stream.leave();
      await Promise.all(begun);
    }
    await until(() => watchers() === before);
  });

  test("is answered for 202 as JSON only, and with another method not at all", async () => {
    const [reservation] = await opened();
    const headers = { [TOKEN]: reservation };
    const html = await registry.ask("/graphql/stream", {
      headers: { ...headers, Accept: "text/html" },
      body: { query: ME, extensions: { operationId: "1" } },
    });
    expect(html.status).toBe(406);
    const patched = await registry.ask("/graphql/stream", { method: "PATCH", headers });
    expect([patched.status, patched.headers.get("allow")]).toEqual([
      405,
      "GET, HEAD, POST, PUT, DELETE",
    ]);
  });
});

describe("a stop", () => {
  test("ends reserved streams at once, opened or not", async () => {
    const stopping = await LiveRegistry.start({ SHUTDOWN_GRACE: "1h" });
    await stopping.ask("/graphql/stream", { method: "PUT" });
    const client = createClient({
      url: `${stopping.url}/graphql/stream`,
      singleConnection: true,
      retryAttempts: 0,
    });
    const feed = client.iterate({ query: RECORD_CHANGES });
    await feed.next();
    const ended = feed.next().catch((error: unknown) => error);
    await stopping.stop();
    await ended;
  });
});
