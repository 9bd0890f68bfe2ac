import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failure } from "../support/client-rig.js";
import type { User } from "../support/registry-client.js";
import { LiveRegistry } from "../support/live-registry.js";
import { useFolder } from "./terminal.js";

const folder = useFolder();
let registry: LiveRegistry;
let ada: User;
beforeAll(async () => {
  registry = await LiveRegistry.start({ MAX_LINEAGE_RECORDS: "30" });
  ada = await registry.user("Ada");
});
afterAll(() => registry.stop());
const tool = (command: string) =>
  folder.run(command, undefined, {
    ARKGRAPH_SERVER: registry.url,
    ARKGRAPH_TOKEN: ada.token,
    HOME: folder.path(),
  });

const events = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    eventType: "COMPLETE",
    eventTime: "2026-11-24T10:00:00Z",
    run: { runId: randomUUID() },
    job: { namespace: "lab", name: `job ${at}` },
    outputs: [{ namespace: "file", name: `out-${at}` }],
  }));

describe("arkgraph upload of OpenLineage events", () => {
  it("records the events of a file, one on each line, in batches that the registry takes", async () => {
    const all = events(50);
    await folder.write("events.jsonl", `${all.map((one) => JSON.stringify(one)).join("\n")}\n`);
    const { status, stdout, stderr } = await tool("upload events.jsonl");
    expect(status).toBe(0);
    expect(stdout.trim().split("\n")).toEqual(
      all.map(({ run }) => `${ada.ark}/lineage/run/${run.runId}`),
    );
    expect(stderr).toContain("50 events: 100 records created, 0 changed, 0 left as they are");
    const again = await tool("upload events.jsonl --json");
    expect(JSON.parse(again.stdout)).toMatchObject({ events: 50 });
    expect(again.stdout).not.toContain("created");
  });

  it("reads one event, or a list of them, as JSON", async () => {
    const [one, ...more] = events(3);
    await folder.write("one.json", JSON.stringify(one, null, 2));
    await folder.write("list.json", JSON.stringify(more, null, 2));
    expect((await tool("upload one.json")).stdout).toContain(one!.run.runId);
    expect((await tool("upload list.json")).stdout.trim().split("\n")).toHaveLength(2);
  });

  it("names the line that is no event, and what the registry refuses", async () => {
    await folder.write("bad.jsonl", `${JSON.stringify(events(1)[0])}\nnot json\n`);
    expect(await tool("upload bad.jsonl")).toEqual(
      failure("line 2 of bad.jsonl is no event of OpenLineage; correct it"),
    );
    await folder.write("refused.json", JSON.stringify({ ...events(1)[0], eventTime: "then" }));
    const refused = await tool("upload refused.json");
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("body.0.eventTime");
  });
});

describe("arkgraph upload of other documents", () => {
  const document = (name: string): string =>
    JSON.stringify({ title: name, resources: [{ name: "counts", path: "counts.csv" }] });

  it("takes a Data Package alone, and a folder that has one", async () => {
    await folder.write("datapackage.json", document("Alone"));
    expect(await tool("upload datapackage.json")).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^ark:99999\/rocrate-alone-\w+\n$/),
    });
    await folder.write("package/datapackage.json", document("In a folder"));
    await folder.write("package/counts.csv", "cells\n");
    const { status, stdout } = await tool("upload package");
    expect(status).toBe(0);
    expect(
      (await registry.ask(`/download/${stdout.trim()}/counts.csv`, { token: ada.token })).text,
    ).toBe("cells\n");
  });
});
