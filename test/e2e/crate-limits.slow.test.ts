import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resident } from "../../bench/support/resident.js";
import { zip } from "../support/crates.js";
import { largeCrate } from "../support/large-crate.js";
import type { User } from "../support/registry-client.js";
import { RegistryProcess } from "../support/registry-process.js";
import { isCluster } from "../support/roles.js";
import { RunWorld } from "../support/run-world.js";
import { PodmanServer, podmanInstalled } from "../support/servers/podman.js";
import { startRegistry, type RegistryUnderTest } from "../support/under-test.js";

const ENV = {
  MAX_METADATA_BYTES: "6M",
  MAX_ENTITY_BYTES: "1M",
  MAX_CRATE_ENTITIES: "10000",
  MAX_CRATE_RATIO: "100000",
};
const HEAD =
  '{"@context":"https://w3id.org/ro/crate/1.1/context","@graph":[{"@id":"ro-crate-metadata.json","@type":"CreativeWork","about":{"@id":"./"},"conformsTo":{"@id":"https://w3id.org/ro/crate/1.1"}},{"@id":"./","@type":"Dataset","name":"Large"';
const nested = (depth: number) => `${HEAD},"about":${"[".repeat(depth)}${"]".repeat(depth)}}]}`;
const entities = (count: number) =>
  `${HEAD}},${Array.from({ length: count }, (_, at) => `{"@id":"#${at}","@type":"Thing","name":"Part ${at}"}`).join(",")}]}`;
const padding = (bytes: number) => "A word or two. ".repeat(bytes / 15);

let registry: RegistryUnderTest | undefined;
let ada: User;
const stopped = async () => {
  await registry?.stop();
  registry = undefined;
};
const started = async (env: Record<string, string>) => {
  registry = await startRegistry({ env });
  ada = await registry.user("Ada");
};

/** What the intake says of a metadata file, and that nothing of it was kept. */
async function refusal(metadata: string | Buffer) {
  const archive =
    typeof metadata === "string" ? await zip({ "ro-crate-metadata.json": metadata }) : metadata;
  const answer = await registry!.upload(archive, ada.token, { path: "/rocrate/upload" });
  expect(await registry!.recordCount()).toBe(0);
  expect((await registry!.ask("/healthz")).status).toBe(200);
  return {
    status: answer.status,
    findings: (
      answer.body["submission"] as {
        error: { code: string; pointer: string | null; message: string }[];
      }
    ).error,
  };
}

describe("metadata beyond a limit", () => {
  beforeAll(() => started(ENV));
  afterAll(stopped);

  test.each([
    [
      "a file of 7 MB",
      () => `${HEAD},"description":"${padding(7e6)}"}]}`,
      {
        code: "METADATA_TOO_LARGE",
        message: expect.stringContaining("MAX_METADATA_BYTES=6291456"),
      },
    ],
    [
      "an entity of 2 MB",
      () => `${HEAD},"description":"${padding(2e6)}"}]}`,
      {
        code: "ENTITY_TOO_LARGE",
        pointer: "/@graph/1",
        message: expect.stringContaining("MAX_ENTITY_BYTES=1048576"),
      },
    ],
    [
      "an entity of a million numbers",
      () => `${HEAD},"size":[${"1,".repeat(1e6)}1]}]}`,
      { code: "ENTITY_TOO_LARGE", pointer: "/@graph/1" },
    ],
    [
      "a crate of 2 MB around its graph, in the older layout",
      () =>
        `{"@context":"https://schema.org","@id":"./","@type":"Dataset","name":"${padding(2e6)}",` +
        `"@graph":[]}`,
      { code: "ENTITY_TOO_LARGE", pointer: "" },
    ],
    [
      "JSON 10,000 deep",
      () => nested(10_000),
      { code: "too_deep", pointer: expect.stringMatching(/^\/@graph\/1\/about(\/0)+$/) },
    ],
    [
      "JSON a million deep",
      () => nested(1_000_000),
      { code: "too_deep", pointer: expect.stringMatching(/^\/@graph\/1\/about(\/0)+$/) },
    ],
    [
      "50,000 entities",
      () => entities(50_000),
      { code: "TOO_MANY_ENTITIES", message: expect.stringContaining("MAX_CRATE_ENTITIES=10000") },
    ],
    [
      "10,001 entities in less than a MiB",
      () => entities(10_001),
      { code: "TOO_MANY_ENTITIES", message: expect.stringContaining("MAX_CRATE_ENTITIES=10000") },
    ],
  ])("is refused with 413 and its name: %s", async (_, metadata, finding) => {
    expect(await refusal(metadata())).toMatchObject({ status: 413, findings: [finding] });
  });

  test.skipIf(isCluster)("frees its memory after it is refused", async () => {
    const { pid } = registry as RegistryProcess;
    const refused = async (count: number) => {
      for (let index = 0; index < count; index++)
        expect((await refusal(`${HEAD},"description":"${padding(6e6)}"}]}`)).status).toBe(413);
    };
    // The first ones load code and grow the heap to its usual size.
    await refused(5);
    const before = resident(pid);
    await refused(20);
    expect(resident(pid) - before, "MiB, after 120 MB of metadata").toBeLessThan(64);
  });

  test("is read when it is large and breaks no limit", async () => {
    const many = Array.from(
      { length: 20 },
      (_, at) =>
        `{"@id":"#${at}","@type":"Thing","name":"Part ${at}","description":"${padding(1e5)} ` +
        `\\" \\\\"}`,
    );
    const state = await registry!.take(
      await zip({ "ro-crate-metadata.json": `${HEAD}},${many.join(",")}]}` }),
      ada.token,
    );
    expect(state["error"]).toBeNull();
    expect(state["identifiersMinted"]).toBe(21);
  });
});

describe("a commit that would take longer than COMMIT_LIMIT", () => {
  let podman: PodmanServer | undefined;
  beforeAll(async () => {
    podman = podmanInstalled ? await PodmanServer.start() : undefined;
    await started({ COMMIT_LIMIT: "1ms", ...(podman && { CONTAINER_HOST: podman.host }) });
  });
  afterAll(async () => {
    await stopped();
    await podman?.stop();
  });

  test("is refused with 413 for a crate, and writes of others go on", async () => {
    expect(await refusal(await largeCrate("long", 1500))).toMatchObject({
      status: 413,
      findings: [
        { code: "COMMIT_TOO_LONG", message: expect.stringContaining("COMMIT_LIMIT=1 ms") },
      ],
    });
    const dataset = {
      "@type": "evi:Dataset",
      name: "Images",
      description: "Some images.",
      owner: ada.ark,
    };
    expect((await registry!.ask("/dataset", { token: ada.token, body: dataset })).status).toBe(200);
  });

  test.skipIf(!podmanInstalled)("ends a run at once if the run's results cause it", async () => {
    const world = new RunWorld(registry!, ada);
    const ark = await world.computation("for n in $(seq 100); do echo $n > $n; done");
    expect(await world.run(ark)).toMatchObject({
      status: "failed",
      error: [
        {
          code: "COMMIT_TOO_LONG",
          message: expect.stringMatching(/100 output files.*COMMIT_LIMIT=1 ms/),
        },
      ],
    });
    expect((await registry!.ask(`/computation/${ark}/history`)).body["revisions"]).toHaveLength(1);
    expect(registry!.log).not.toContain("an attempt at a submission failed");
    expect(podman!.left()).toEqual([]);
  });
});
