import { describe, expect, test } from "vitest";
import { Collector, KIND } from "../../support/collector.js";
import { crate } from "../../support/crates.js";
import { clusterInstalled, Topology } from "../../support/topology.js";

describe.skipIf(!clusterInstalled)("traces of a cluster", { timeout: 120_000 }, () => {
  test("lead from the node that received the request to the worker, and name the stores of both", async () => {
    const collector = await Collector.start();
    let cluster: Topology | undefined;
    try {
      cluster = await Topology.start({
        apis: 1,
        workers: 1,
        env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: "50" },
      });
      const ada = await cluster.user("Ada");
      const { rocrateIdentifier: ark } = await cluster.take(await crate([]), ada.token, 60_000);
      expect((await cluster.ask(`/evidencegraph/query/${ark}`)).status).toBe(200);
      await expect
        .poll(() => collector.named("GET /evidencegraph/query/ark:{NAAN}/{postfix}").length, {
          timeout: 10_000,
        })
        .toBe(1);
      await expect
        .poll(() => collector.named("process submissions").length, { timeout: 10_000 })
        .toBe(1);

      const [request] = collector.named("POST /rocrate/upload-async");
      const [job] = collector.named("process submissions");
      expect(job).toMatchObject({
        kind: KIND.consumer,
        traceId: request!.traceId,
        parentSpanId: request!.spanId,
        attributes: {
          "messaging.system": "bullmq",
          "arkgraph.submission.status": "finished",
          "arkgraph.request_id": request!.attributes["arkgraph.request_id"],
        },
      });
      expect(job!.resource["service.instance.id"]).not.toBe(
        request!.resource["service.instance.id"],
      );
      const within = (name: string, traceId: string) =>
        collector.named(name).find((span) => span.traceId === traceId);
      expect(within("commit records", request!.traceId)).toMatchObject({
        kind: KIND.client,
        parentSpanId: job!.spanId,
        attributes: { "db.system.name": "postgresql" },
      });
      expect(within("put objects", request!.traceId)).toMatchObject({
        kind: KIND.client,
        parentSpanId: request!.spanId,
        attributes: { "arkgraph.objects.system": "s3" },
      });
      const [asked] = collector.named("GET /evidencegraph/query/ark:{NAAN}/{postfix}");
      expect(within("select graph", asked!.traceId)).toMatchObject({
        kind: KIND.client,
        attributes: { "db.system.name": "sparql" },
      });
      const sent = collector.bodies.join("\n");
      for (const hidden of [
        ada.email,
        ada.password,
        ada.token,
        ark,
        ...["DATABASE_URL", "S3_SECRET_KEY", "S3_ACCESS_KEY", "JWT_SECRET"].map(
          (name) => cluster!.servers.env[name]!,
        ),
      ])
        expect(sent).not.toContain(hidden);
    } finally {
      await cluster?.stop();
      await collector.stop();
    }
  });
});
