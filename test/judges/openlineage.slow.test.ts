import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Json, User } from "../support/registry-client.js";
import { maySkip } from "../support/servers/judges.js";
import { findProgram } from "../support/servers/programs.js";

const FOLDER = join(process.env["TEST_SERVERS"] ?? "", "openlineage");
const EXAMPLE = join(packageRoot, "docs/clients/python/lineage.py");
const installed =
  process.env["TEST_SERVERS"] !== undefined &&
  existsSync(join(FOLDER, "openlineage")) &&
  findProgram("python3") !== undefined;
if (!installed)
  process.stderr.write(
    "\n!! SKIPPED: OpenLineage's client is not here; python3 -m pip install --target " +
      "FOLDER/openlineage -r docs/clients/python/lineage-requirements.txt, with " +
      "TEST_SERVERS=FOLDER, to send events with it.\n\n",
  );

describe.skipIf(!installed && maySkip)("OpenLineage's own client", () => {
  let registry: LiveRegistry;
  let ada: User;
  beforeAll(async () => {
    registry = await LiveRegistry.start();
    ada = await registry.user("Ada");
  });
  afterAll(() => registry?.stop());

  /** Runs the example of docs/lineage.md; answers the run id. */
  const send = async (env: Record<string, string>): Promise<string> => {
    const { stdout } = await promisify(execFile)(findProgram("python3")!, [EXAMPLE], {
      env: {
        ...process.env,
        PYTHONPATH: FOLDER,
        PYTHONDONTWRITEBYTECODE: "1",
        OPENLINEAGE_URL: registry.url,
        ...env,
      },
    });
    return stdout.trim();
  };

  it("sends a run that is read as a computation with its evidence", async () => {
    const id = await send({ OPENLINEAGE_API_KEY: ada.token });
    const run = `${ada.ark}/lineage/run/${id}`;
    const { body: computation } = await registry.ask(`/computation/${run}`);
    expect(computation).toMatchObject({
      "@type": "evi:Computation",
      name: "count-cells",
      owner: ada.ark,
      actionStatus: "https://schema.org/CompletedActionStatus",
    });
    expect(computation["dateCreated"] <= computation["dateFinished"]).toBe(true);
    const [input] = computation["usedDataset"] as string[];
    const [output] = computation["generated"] as string[];
    const [software] = computation["usedSoftware"] as string[];
    const { body: asked } = await registry.graphql(
      `query ($id: ID!) { dataset(id: $id) { name generatedBy { nodes { id } } }
        evidence(id: $id) { nodes { id } } }`,
      { id: output },
    );
    expect(asked["data"]).toMatchObject({
      dataset: { name: "lab.public.counts", generatedBy: { nodes: [{ id: run }] } },
    });
    expect(asked["data"].evidence.nodes.map(({ id }: Json) => id).toSorted()).toEqual(
      [output, run, input, software].toSorted(),
    );
    const { body: document } = await registry.ask(`/${output}`);
    const { body: schema } = await registry.ask(`/${document["evi:hasSchema"]["@id"]}`);
    expect(schema["properties"]).toMatchObject({
      image: { type: "string", index: 0 },
      cells: { type: "integer", index: 1 },
    });
    const { body: code } = await registry.ask(`/software/${software}`);
    expect(code).toMatchObject({ version: "v2", url: expect.stringContaining("count.py") });
  });

  it("is refused without a valid token", async () => {
    await expect(send({ OPENLINEAGE_API_KEY: "not a token" })).rejects.toThrow("401");
  });
});
