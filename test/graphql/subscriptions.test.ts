import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import type { InProcessJobQueue } from "../../src/jobs/in-process/job-queue.js";
import { eventsOf, webSocketClient } from "../support/graphql-streams.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Json, User } from "../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
let bob: User;
let archive: Buffer;
beforeAll(async () => {
  registry = await LiveRegistry.start({
    GRAPHQL_MAX_SUBSCRIPTIONS: "3",
    GRAPHQL_MAX_COST: "100",
  });
  [ada, bob, archive] = await Promise.all([
    registry.user("Ada"),
    registry.user("Bob"),
    buildDemoCrate(),
  ]);
});
afterAll(() => registry?.stop());

const PROGRESS =
  "subscription ($id: ID!) { submissionProgress(id: $id) { id status completed " +
  "success stage progress { done total unit } task record { id } } }";

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
const watchers = (): number => (registry.deps.jobs as InProcessJobQueue).watchers.size;
async function until(holds: () => boolean): Promise<void> {
  await expect.poll(holds).toBe(true);
}

describe("a submission's progress, over a WebSocket", () => {
  test("begins with the current state and completes with the final one", async () => {
    const submission = (await registry.upload(archive, ada.token)).body["submissionUUID"] as string;
    const client = webSocketClient(registry.url, ada.token);
    const seen: Json[] = [];
    for await (const { data, errors } of client.iterate<{ submissionProgress: Json }>({
      query: PROGRESS,
      variables: { id: submission },
    })) {
      expect(errors).toBeUndefined();
      seen.push(data!.submissionProgress);
    }
    await client.dispose();
    expect(seen.at(-1)).toMatchObject({
      id: submission,
      status: "FINISHED",
      completed: true,
      success: true,
      task: "CRATE",
      record: { id: expect.stringMatching(/^ark:99999\/rocrate-/) },
    });
    expect(seen.slice(0, -1).every(({ completed }) => !completed)).toBe(true);
  });

  test("of an ended submission is its state, once", async () => {
    const { submissionUUID } = await registry.take(archive, ada.token);
    const client = webSocketClient(registry.url, ada.token);
    const seen: unknown[] = [];
    for await (const { data } of client.iterate({
      query: PROGRESS,
      variables: { id: submissionUUID },
    }))
      seen.push(data);
    await client.dispose();
    expect(seen).toHaveLength(1);
  });

  test("is for its uploader and administrators only", async () => {
    const id = await queued(ada);
    for (const [token, code] of [
      [bob.token, "NOT_FOUND"],
      [undefined, "NOT_AUTHENTICATED"],
    ] as const) {
      const client = webSocketClient(registry.url, token);
      const answers: Json[] = [];
      for await (const answer of client.iterate({ query: PROGRESS, variables: { id } }))
        answers.push(answer);
      await client.dispose();
      expect(answers).toMatchObject([{ errors: [{ extensions: { code } }] }]);
    }
  });

  test("is refused with an invalid token by closing the connection", async () => {
    const client = webSocketClient(registry.url, "not-a-token");
    await expect(async () => {
      for await (const _ of client.iterate({ query: "{ __typename }" })) void _;
    }).rejects.toMatchObject({ code: 4403 });
  });

  test("frees its resources when the client disconnects", async () => {
    const before = watchers();
    const client = webSocketClient(registry.url, ada.token);
    const stream = client.iterate({ query: PROGRESS, variables: { id: await queued(ada) } });
    expect((await stream.next()).value).toMatchObject({
      data: { submissionProgress: { status: "QUEUED" } },
    });
    expect(watchers()).toBe(before + 1);
    await client.dispose();
    await until(() => watchers() === before);
  });

  test("is refused beyond the number that a connection may have", async () => {
    const id = await queued(ada);
    const client = webSocketClient(registry.url, ada.token);
    const streams = [1, 2, 3].map(() => client.iterate({ query: PROGRESS, variables: { id } }));
    for (const stream of streams) await stream.next();
    await expect(
      client.iterate({ query: PROGRESS, variables: { id } }).next(),
    ).rejects.toMatchObject([
      {
        extensions: { code: "TOO_MANY_REQUESTS" },
        message: expect.stringContaining("GRAPHQL_MAX_SUBSCRIPTIONS"),
      },
    ]);
    await client.dispose();
  });
});

describe("operations over a WebSocket", () => {
  const open: { dispose(): void | Promise<void> }[] = [];
  afterEach(async () => {
    for (const client of open.splice(0)) await client.dispose();
  });
  const ask = async (query: string): Promise<unknown> => {
    const client = webSocketClient(registry.url, ada.token);
    open.push(client);
    return (await client.iterate({ query }).next()).value as unknown;
  };

  test("may be queries, with the same limits", async () => {
    expect(await ask("{ me { name } }")).toEqual({
      data: { me: { name: "Ada" } },
      extensions: { cost: expect.anything() },
    });
    const deep = `{ record(id: "ark:99999/x") ${"{ owner ".repeat(30)}{ id }${" }".repeat(30)} }`;
    await expect(ask(deep)).rejects.toMatchObject([
      {
        extensions: { code: "QUERY_TOO_COSTLY" },
        message: expect.stringContaining("GRAPHQL_MAX_DEPTH"),
      },
    ]);
    await expect(
      ask(`{ record(id: "x") { revisions(first: 1000) { nodes { number } } } }`),
    ).rejects.toMatchObject([{ message: expect.stringContaining("GRAPHQL_MAX_COST") }]);
    await expect(ask("{ nothingOfTheKind }")).rejects.toMatchObject([
      { extensions: { code: "GRAPHQL_VALIDATION_FAILED" } },
    ]);
  });

  test("may not be mutations: those use HTTP, whose bodies are parsed strictly", async () => {
    await expect(
      ask(`mutation { deleteRecord(input: { id: "ark:99999/x" }) { revision } }`),
    ).rejects.toMatchObject([{ message: expect.stringContaining("HTTP POST") }]);
  });

  test("mask faults", async () => {
    const { records } = registry.deps;
    const select = records.select;
    records.select = () => Promise.reject(new Error("the secret of the store"));
    try {
      expect(JSON.stringify(await ask("{ datasets { nodes { id } } }"))).toMatch(
        /"code":"INTERNAL"/,
      );
      expect(JSON.stringify(await ask("{ datasets { nodes { id } } }"))).not.toContain("secret");
    } finally {
      records.select = select;
    }
  });

  test("that are no messages end their own connection only", async () => {
    const socket = new WebSocket(
      `${registry.url.replace("http", "ws")}/graphql`,
      "graphql-transport-ws",
    );
    const code = await new Promise<number>((resolve) =>
      socket.on("open", () => socket.send("{")).on("close", resolve),
    );
    expect(code).toBe(4400);
    expect(await ask("{ __typename }")).toEqual({
      data: { __typename: "Query" },
      extensions: { cost: expect.anything() },
    });
  });

  test("are refused at another address", async () => {
    const socket = new WebSocket(
      `${registry.url.replace("http", "ws")}/elsewhere`,
      "graphql-transport-ws",
    );
    await expect(new Promise((_resolve, reject) => socket.on("error", reject))).rejects.toThrow(
      /404/,
    );
  });
});

describe("operations over server-sent events", () => {
  const stream = (
    query: string,
    {
      token,
      variables,
      headers,
    }: { token?: string; variables?: object; headers?: Record<string, string> } = {},
  ) =>
    fetch(`${registry.url}/graphql/stream`, {
      method: "POST",
      body: JSON.stringify({ query, variables }),
      headers: {
        "Content-Type": "application/json",
        Accept: "text/event-stream",
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...headers,
      },
    });

  test("send a submission's progress and complete with it", async () => {
    const { submissionUUID } = await registry.take(archive, ada.token);
    const events = await eventsOf(
      await stream(PROGRESS, { token: ada.token, variables: { id: submissionUUID } }),
    );
    expect(events).toMatchObject([
      { event: "next", data: { data: { submissionProgress: { status: "FINISHED" } } } },
      { event: "complete" },
    ]);
  });

  test("are for the uploader only, with the same limits", async () => {
    const id = await queued(ada);
    expect(
      await eventsOf(await stream(PROGRESS, { token: bob.token, variables: { id } })),
    ).toMatchObject([
      { data: { errors: [{ extensions: { code: "NOT_FOUND" } }] } },
      { event: "complete" },
    ]);
    expect(
      await eventsOf(
        await stream(`{ record(id: "x") { revisions(first: 1000) { nodes { number } } } }`),
      ),
    ).toMatchObject([
      { data: { errors: [{ extensions: { code: "QUERY_TOO_COSTLY" } }] } },
      { event: "complete" },
    ]);
  });

  test(
    "are refused before the stream starts: a bad token, another media type, a body that " +
      "is no JSON",
    async () => {
      expect((await stream("{ __typename }", { token: "no" })).status).toBe(401);
      expect((await stream("{ __typename }", { headers: { Accept: "text/html" } })).status).toBe(
        406,
      );
      const broken = await fetch(`${registry.url}/graphql/stream`, {
        method: "POST",
        body: "{",
        headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      });
      expect(broken.status).toBe(400);
      expect(await broken.json()).toMatchObject({
        errors: [{ extensions: { code: "VALIDATION", detail: [{ type: "json_invalid" }] } }],
      });
    },
  );

  test("free their resources when the client disconnects", async () => {
    const before = watchers();
    const leave = new AbortController();
    const response = await fetch(`${registry.url}/graphql/stream`, {
      method: "POST",
      signal: leave.signal,
      body: JSON.stringify({ query: PROGRESS, variables: { id: await queued(ada) } }),
      headers: {
        "Content-Type": "application/json",
        Accept: "text/event-stream",
        Authorization: `Bearer ${ada.token}`,
      },
    });
    await response.body!.getReader().read();
    await until(() => watchers() === before + 1);
    leave.abort();
    await until(() => watchers() === before);
  });
});

describe("a stop", () => {
  test("ends open subscriptions at once", async () => {
    // A stop that waited for the subscriptions would outlast the test.
    const stopping = await LiveRegistry.start({ SHUTDOWN_GRACE: "1h" });
    const user = await stopping.user();
    const { submission } = await stopping.deps.records.submit({
      id: crypto.randomUUID(),
      type: "crate",
      user: user.ark,
      sha256: null,
      input: {},
      at: Date.now(),
    });
    const client = webSocketClient(stopping.url, user.token);
    const streamed = client.iterate({ query: PROGRESS, variables: { id: submission.id } });
    await streamed.next();
    const events = await fetch(`${stopping.url}/graphql/stream`, {
      method: "POST",
      body: JSON.stringify({ query: PROGRESS, variables: { id: submission.id } }),
      headers: {
        "Content-Type": "application/json",
        Accept: "text/event-stream",
        Authorization: `Bearer ${user.token}`,
      },
    });
    const ended = Promise.all([
      streamed.next().catch((error: unknown) => error),
      eventsOf(events).catch((error: unknown) => error),
    ]);
    await stopping.stop();
    await ended;
  });
});
