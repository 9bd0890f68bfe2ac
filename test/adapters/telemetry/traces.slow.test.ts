import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Collector, KIND, type ReceivedSpan } from "../../support/collector.js";
import { LiveRegistry } from "../../support/live-registry.js";
import { crate } from "../../support/crates.js";
import type { User } from "../../support/registry-client.js";
import { RegistryProcess } from "../../support/registry-process.js";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const KEY = "the collector's own key";
/** All that a span may say; the names are those of the semantic conventions, or begin with ours. */
const KNOWN = [
  "http.request.method",
  "http.route",
  "http.response.status_code",
  "url.scheme",
  "network.protocol.version",
  "error.type",
  "db.system.name",
  "db.operation.name",
  "db.collection.name",
  "messaging.system",
  "messaging.destination.name",
  "messaging.operation.type",
  "messaging.operation.name",
  "messaging.message.id",
  "arkgraph.request_id",
  "arkgraph.submission.type",
  "arkgraph.submission.attempt",
  "arkgraph.submission.status",
  "arkgraph.objects.system",
  "arkgraph.objects.operation",
];

const settings = (endpoint: string, more: Record<string, string> = {}) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_HEADERS: `x-api-key=${encodeURIComponent(KEY)}`,
  OTEL_BSP_SCHEDULE_DELAY: "50",
  ...more,
});

describe("traces, where OTEL_EXPORTER_OTLP_ENDPOINT names a collector", () => {
  let collector: Collector;
  let registry: RegistryProcess;
  let ada: User;
  beforeAll(async () => {
    collector = await Collector.start();
    registry = await RegistryProcess.start({ env: settings(collector.url) });
    ada = await registry.user("Ada");
  });
  afterAll(async () => {
    await registry?.stop();
    await collector?.stop();
  });
  /** The one span of a name in a trace, once it has come. */
  async function arrived(name: string, traceId?: string): Promise<ReceivedSpan> {
    const found = () =>
      collector.named(name).filter((span) => traceId === undefined || span.traceId === traceId);
    await expect.poll(() => found().length, { timeout: 10_000, message: name }).toBeGreaterThan(0);
    return found()[0]!;
  }

  test("lead from the caller through the request and the queue to the commit of a crate", async () => {
    const form = new FormData();
    form.set(
      "file",
      new Blob([new Uint8Array(await crate([]))], { type: "application/zip" }),
      "her secret plans.zip",
    );
    const headers = {
      traceparent: `00-${TRACE}-${CALLER}-01`,
      tracestate: "vendor=her-own-words",
      "X-Request-Id": "upload-17",
    };
    const { body, text } = await registry.ask("/rocrate/upload-async", {
      token: ada.token,
      body: form,
      headers,
    });
    expect(await registry.settled(body["submissionUUID"], ada.token), text).toMatchObject({
      status: "finished",
    });

    const request = await arrived("POST /rocrate/upload-async", TRACE);
    expect(request).toMatchObject({
      kind: KIND.server,
      parentSpanId: CALLER,
      resource: {
        "service.name": "arkgraph",
        "service.version": "0.2.0",
        "service.instance.id": expect.any(String),
      },
    });
    expect(request.attributes).toEqual({
      "http.request.method": "POST",
      "http.route": "/rocrate/upload-async",
      "http.response.status_code": 200,
      "url.scheme": "http",
      "network.protocol.version": "1.1",
      "arkgraph.request_id": "upload-17",
    });
    const job = await arrived("process submissions", TRACE);
    expect(job).toMatchObject({ kind: KIND.consumer, parentSpanId: request.spanId });
    expect(job.attributes).toEqual({
      "messaging.system": "in_process",
      "messaging.destination.name": "submissions",
      "messaging.operation.type": "process",
      "messaging.operation.name": "process",
      "messaging.message.id": body["submissionUUID"],
      "arkgraph.submission.type": "crate",
      "arkgraph.submission.attempt": 1,
      "arkgraph.submission.status": "finished",
      "arkgraph.request_id": "upload-17",
    });
    expect(job.events).toEqual([
      "reading archive",
      "reading metadata",
      "storing files",
      "building records",
      "committing",
    ]);
    expect(await arrived("send submissions", TRACE)).toMatchObject({
      kind: KIND.producer,
      parentSpanId: request.spanId,
      attributes: { "messaging.message.id": body["submissionUUID"] },
    });
    expect(await arrived("receive objects", TRACE)).toMatchObject({
      parentSpanId: request.spanId,
      attributes: { "arkgraph.objects.system": "files" },
    });
    expect(await arrived("put objects", TRACE)).toMatchObject({
      kind: KIND.internal,
      parentSpanId: request.spanId,
    });
    expect(await arrived("commit records", TRACE)).toMatchObject({
      parentSpanId: job.spanId,
      attributes: {
        "db.system.name": "sqlite",
        "db.operation.name": "commit",
        "db.collection.name": "records",
      },
    });
    for (const { startTimeUnixNano, endTimeUnixNano, traceState } of collector.spans) {
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
      expect(traceState).toBeUndefined();
    }
  });

  test("name reads, GraphQL, SPARQL and unknown paths by their routes", async () => {
    await registry.ask(`/${ada.ark}`);
    await registry.graphql("query HerOwnName { __typename }");
    await registry.ask("/sparql", {
      body: new URLSearchParams({ query: "SELECT * { ?her_variable ?p ?o } LIMIT 1" }),
    });
    await registry.ask("/nothing/is/here");
    const read = await arrived("GET /ark:{NAAN}/{postfix}");
    expect(read.parentSpanId).toBeUndefined();
    expect(await arrived("find records", read.traceId)).toMatchObject({
      kind: KIND.internal,
      parentSpanId: read.spanId,
    });
    expect((await arrived("POST /graphql")).attributes).toMatchObject({
      "http.route": "/graphql",
      "http.response.status_code": 200,
    });
    const asked = await arrived("POST /sparql");
    expect(await arrived("query graph", asked.traceId)).toMatchObject({
      parentSpanId: asked.spanId,
      attributes: { "db.system.name": "oxigraph" },
    });
    const lost = await arrived("GET");
    expect(lost.attributes).toMatchObject({ "http.response.status_code": 404 });
    expect(lost.attributes).not.toHaveProperty("http.route");
  });

  test("record a store's refusal by its code, and report it as no fault of the service", async () => {
    const dataset = {
      "@id": "ark:99999/twice",
      "@type": "evi:Dataset",
      name: "Twice",
      description: "Written twice, refused once.",
      owner: ada.ark,
    };
    for (const status of [200, 409])
      expect((await registry.ask("/dataset", { token: ada.token, body: dataset })).status).toBe(
        status,
      );
    await expect
      .poll(() =>
        collector
          .named("POST /dataset")
          .map(({ attributes, status }) => [
            attributes["http.response.status_code"],
            status?.code ?? 0,
          ]),
      )
      .toEqual([
        [200, 0],
        [409, 0],
      ]);
    await expect
      .poll(() =>
        collector.named("commit records").map(({ attributes }) => attributes["error.type"]),
      )
      .toContain("DUPLICATE");
  });

  test(
    "respect the caller's sampling decision, and start anew where the caller's trace is " +
      "invalid",
    async () => {
      const other = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
      await registry.ask("/search/basic?query=x", {
        headers: { traceparent: `00-${other}-${CALLER}-00` },
      });
      await registry.ask("/search/semantic?query=x", {
        headers: { traceparent: "00-her words-and more-01" },
      });
      expect((await arrived("GET /search/semantic")).parentSpanId).toBeUndefined();
      expect(collector.spans.filter(({ traceId }) => traceId === other)).toEqual([]);
      expect(collector.named("GET /search/basic")).toEqual([]);
    },
  );

  test(
    "contain no secret, address, identifier or word of a user, and no attribute outside " +
      "the list",
    async () => {
      await registry.login(ada.email, ada.password);
      await registry.ask(`/dataset/ark:99999/${encodeURIComponent(ada.email)}?secret=hunter2`, {
        token: ada.token,
      });
      await registry.ask("/hunter2", { method: "PROPFIND", token: ada.token });
      await expect.poll(() => collector.named("_OTHER").length).toBe(1);
      const sent = collector.bodies.join("\n");
      for (const hidden of [
        ada.email,
        encodeURIComponent(ada.email),
        "example.org",
        ada.password,
        ada.token,
        ada.ark,
        "hunter2",
        "PROPFIND",
        "her secret plans",
        "HerOwnName",
        "her_variable",
        "her-own-words",
        "twice",
        "is/here",
        "127.0.0.1",
        KEY,
      ])
        expect(sent).not.toContain(hidden);
      const names = new Set(collector.spans.flatMap(({ attributes }) => Object.keys(attributes)));
      expect([...names].filter((name) => !KNOWN.includes(name))).toEqual([]);
      expect(new Set(collector.headers.map((headers) => headers["x-api-key"]))).toEqual(
        new Set([KEY]),
      );
    },
  );

  test("are not created for background polling", () => {
    const roots = collector.spans.filter(({ parentSpanId }) => parentSpanId === undefined);
    expect(roots.filter(({ kind }) => kind !== KIND.server)).toEqual([]);
  });

  test("are all sent before the service stops", async () => {
    const last = await RegistryProcess.start({
      env: settings(collector.url, {
        OTEL_BSP_SCHEDULE_DELAY: "600000",
        OTEL_SERVICE_NAME: "short-lived",
      }),
    });
    await last.ask("/healthz");
    await last.stop();
    expect(collector.named("GET /healthz").map(({ resource }) => resource["service.name"])).toEqual(
      ["short-lived"],
    );
  });
});

describe("a collector that does not work", () => {
  test.each([
    ["is away", undefined],
    ["takes what is sent and never answers", { silent: true }],
  ])("and %s delays neither the service nor its stop", async (_what, how) => {
    const collector = await Collector.start(how);
    const registry = await RegistryProcess.start({
      env: settings(collector.url, {
        OTEL_EXPORTER_OTLP_TIMEOUT: "500",
        OTEL_BSP_MAX_QUEUE_SIZE: "100",
      }),
    });
    try {
      if (!how) await collector.stop();
      const ada = await registry.user("Ada");
      for (let count = 0; count < 100; count++)
        expect((await registry.ask(`/${ada.ark}`)).status).toBe(200);
      expect(await registry.take(await crate([]), ada.token)).toMatchObject({ status: "finished" });
      await expect
        .poll(() => registry.log, { timeout: 10_000 })
        .toContain("spans could not be sent");
      expect(registry.log.split("spans could not be sent")).toHaveLength(2);
      expect(registry.log).not.toContain(KEY);
      const { status } = await registry.terminate();
      expect(status).toBe(0);
    } finally {
      await registry.remove();
      if (registry.alive) await registry.kill();
      if (how) await collector.stop();
    }
  });
});

test("a stop waits a second for a silent collector, not for the whole time limit of an export", async () => {
  const collector = await Collector.start({ silent: true });
  const registry = await RegistryProcess.start({
    env: settings(collector.url, { OTEL_EXPORTER_OTLP_TIMEOUT: "60000" }),
  });
  try {
    await registry.ask("/healthz");
    await expect.poll(() => collector.named("GET /healthz").length).toBe(1);
    await registry.ask("/readyz");
    const { status } = await registry.terminate();
    expect(status).toBe(0);
  } finally {
    await registry.stop();
    await collector.stop();
  }
});

test.each([
  ["is named", true],
  ["is not named", false],
])("a submission stores its trace only where a collector %s", async (_which, named) => {
  const collector = await Collector.start();
  const registry = await LiveRegistry.start(
    named ? { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } : {},
  );
  try {
    const { id } = await registry.user("Ada").then(async ({ token }) => {
      const form = new FormData();
      form.set(
        "file",
        new Blob([new Uint8Array(await crate([]))], { type: "application/zip" }),
        "crate.zip",
      );
      const { body } = await registry.ask("/rocrate/upload-async", {
        token,
        body: form,
        headers: { traceparent: `00-${TRACE}-${CALLER}-01` },
      });
      await registry.settled(body["submissionUUID"], token);
      return { id: body["submissionUUID"] as string };
    });
    const { input } = (await registry.deps.records.submission(id))!;
    expect(input["trace"]).toEqual(
      named ? expect.stringMatching(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`)) : undefined,
    );
  } finally {
    await registry.stop();
    await collector.stop();
  }
  expect(collector.spans.length > 0).toBe(named);
});
