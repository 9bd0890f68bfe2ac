import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { crate } from "../support/crates.js";
import type { Json, User } from "../support/registry-client.js";
import { inContainer, RunWorld } from "../support/run-world.js";
import { IMAGE, PodmanServer, podmanInstalled, WAIT } from "../support/servers/podman.js";
import { startRegistry, type RegistryUnderTest } from "../support/under-test.js";

const LIMITS = {
  EXECUTION_TIMEOUT: "4s",
  EXECUTION_MEMORY: "64MiB",
  EXECUTION_TMP_BYTES: "1MiB",
  EXECUTION_OUTPUT_BYTES: "2000000",
  EXECUTION_OUTPUT_FILES: "20",
  EXECUTION_INPUT_FILES: "5",
  CONTAINER_IMAGES: "localhost/arkgraph-*,localhost/absent:*",
  EXECUTION_CONCURRENCY: "2",
};

describe.skipIf(!podmanInstalled)("computations", () => {
  let podman: PodmanServer;
  let registry: RegistryUnderTest;
  let world: RunWorld;
  let ada: User;
  let grace: User;
  beforeAll(async () => {
    podman = await PodmanServer.start();
    registry = await startRegistry({ env: { CONTAINER_HOST: podman.host, ...LIMITS } });
    [ada, grace] = [await registry.user("Ada"), await registry.user("Grace")];
    world = new RunWorld(registry, ada);
  });
  afterAll(async () => {
    await registry?.stop();
    await podman?.stop();
  });

  const get = async (path: string, token?: string): Promise<Json> =>
    (await registry.ask(path, { token })).body;
  const failed = async (ark: string, code: string): Promise<string> => {
    const before = (await registry.ask(`/computation/${ark}`)).headers.get("etag");
    const records = await registry.recordCount();
    const view = await world.run(ark);
    expect(view, JSON.stringify(view["error"])).toMatchObject({
      status: "failed",
      success: false,
      computationIdentifier: ark,
      error: [{ code }],
    });
    expect((await registry.ask(`/computation/${ark}`)).headers.get("etag")).toBe(before);
    expect(await registry.recordCount()).toBe(records);
    expect(await registry.staging()).toEqual([]);
    return view["error"][0].message as string;
  };

  it("mount data and software into a run, and store its results with their provenance", async () => {
    const images = await world.data({
      "cells.csv": "b\na\n",
      "more.csv": "c\n",
      "../evil name.csv": "d\n",
    });
    const software = await world.data(
      { "sort.sh": "#!/bin/sh\ncat /inputs/*.csv | sort" },
      { kind: "software" },
    );
    const ark = await world.computation(
      "/software/sort.sh > sorted.txt; mkdir tables; wc -l < sorted.txt > tables/count.csv; " +
        "cat /inputs/.arkgraph.json > given.json; ln -s sorted.txt latest",
      { usedDataset: images, usedSoftware: software },
    );
    // Pressed again and again, also at one moment: one run.
    const [asked, ...more] = await Promise.all(Array.from({ length: 5 }, () => world.execute(ark)));
    more.push(await world.execute(ark));
    expect(asked).toMatchObject({
      status: 200,
      body: { computationIdentifier: ark, rocrateIdentifier: null, sha256: null, completed: false },
    });
    for (const { body } of more) expect(body["submissionUUID"]).toBe(asked!.body["submissionUUID"]);
    const view = await registry.settled(asked!.body["submissionUUID"] as string, ada.token);
    expect(view, JSON.stringify(view["error"])).toMatchObject({
      status: "finished",
      success: true,
      error: null,
      identifiersMinted: 4,
      computationIdentifier: ark,
    });
    expect(view["warnings"]).toEqual([
      expect.objectContaining({
        code: "OUTPUT_NOT_TAKEN",
        message: expect.stringContaining('"latest" is a link') as string,
      }),
    ]);

    const computation = await get(`/computation/${ark}`);
    expect(computation).toMatchObject({
      containerId: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      containerDigest: expect.stringMatching(/sha256:[0-9a-f]{64}$/) as string,
    });
    expect(Date.parse(computation["dateFinished"] as string)).toBeGreaterThanOrEqual(
      Date.parse(computation["dateCreated"] as string),
    );
    expect(Math.abs(Date.now() - Date.parse(computation["dateFinished"] as string))).toBeLessThan(
      60_000,
    );
    const [dataset, ...files] = computation["generated"] as [string, ...string[]];
    expect(await get(`/dataset/${dataset}`)).toMatchObject({
      name: "Results of Counting run",
      owner: ada.ark,
      generatedBy: ark,
      distribution: files,
    });
    const downloads = new Map<string, Json>();
    for (const file of files) {
      const record = await get(`/datadownload/${file}`);
      downloads.set(record["name"] as string, record);
    }
    expect([...downloads.keys()].sort()).toEqual(["given.json", "sorted.txt", "tables/count.csv"]);
    const sorted = downloads.get("sorted.txt")!;
    expect(sorted).toMatchObject({
      encodingFormat: "text/plain",
      contentSize: "8",
      sha256: createHash("sha256").update("a\nb\nc\nd\n").digest("hex"),
      encodesCreativeWork: dataset,
      generatedBy: ark,
      owner: ada.ark,
    });
    const download = await registry.ask(`/datadownload/${sorted["@id"]}/download`, {
      token: ada.token,
    });
    expect(download).toMatchObject({ status: 200, text: "a\nb\nc\nd\n" });
    expect(
      (await registry.ask(`/datadownload/${sorted["@id"]}/download`, { token: grace.token }))
        .status,
    ).toBe(403);
    const given = JSON.parse(
      (
        await registry.ask(`/datadownload/${downloads.get("given.json")!["@id"]}/download`, {
          token: ada.token,
        })
      ).text,
    ) as Json[];
    expect(given.map((file) => file["path"])).toEqual(["cells.csv", "more.csv", "evil name.csv"]);

    const graph = await get(`/evidencegraph/query/${sorted["@id"]}`);
    expect((graph["@graph"] as Json[]).map((node) => node["@id"])).toEqual(
      expect.arrayContaining([sorted["@id"], ark, images, software]),
    );
    const sparql = await registry.ask("/sparql", {
      body: new URLSearchParams({
        query:
          `PREFIX prov: <http://www.w3.org/ns/prov#> ASK { <${sorted["@id"]}> ` +
          `prov:wasGeneratedBy <${ark}> . <${ark}> prov:generated <${dataset}> }`,
      }),
    });
    expect(sparql.body["boolean"]).toBe(true);
    const {
      body: { revisions },
    } = await registry.ask(`/computation/${ark}/history`);
    expect(revisions).toMatchObject([
      { revision: 2, by: ada.ark, action: "update" },
      { revision: 1 },
    ]);
    expect(podman.left()).toEqual([]);

    // A further run adds its results, and the file of one run can be what another used.
    expect(await world.run(ark)).toMatchObject({ status: "finished" });
    expect(((await get(`/computation/${ark}`))["generated"] as string[]).slice(0, 4)).toEqual([
      dataset,
      ...files,
    ]);
    const next = await world.computation(["sh", "-c", "cat /inputs/* > again"], {
      usedDataset: sorted["@id"],
    });
    expect(await world.run(next)).toMatchObject({ status: "finished", warnings: [] });
  });

  it("gives a run every dataset and all software that it names, as evidence too", async () => {
    const [one, other] = [
      await world.data({ "one.csv": "a\n" }),
      await world.data({ "other.csv": "b\n" }),
    ];
    const [tool, part] = [
      await world.data({ "tool.sh": ". /software/part.sh" }, { kind: "software" }),
      await world.data({ "part.sh": "cat /inputs/*.csv > all.txt" }, { kind: "software" }),
    ];
    const ark = await world.computation("sh /software/tool.sh", {
      usedDataset: [one, other],
      usedSoftware: [tool, part],
    });
    expect(await world.run(ark)).toMatchObject({ status: "finished", warnings: [] });
    const computation = await get(`/computation/${ark}`);
    expect(computation).toMatchObject({ usedDataset: [one, other], usedSoftware: [tool, part] });
    const result = computation["generated"][1] as string;
    expect(
      (await registry.ask(`/datadownload/${result}/download`, { token: ada.token })).text,
    ).toBe("a\nb\n");
    const graph = await get(`/evidencegraph/query/${result}`);
    expect((graph["@graph"] as Json[]).map((node) => node["@id"])).toEqual(
      expect.arrayContaining([ark, one, other, tool, part]),
    );
  });

  it("runs a computation of a crate on the crate's files, by their paths there", async () => {
    const archive = await crate(
      [
        { "@id": "data/in.txt", "@type": "File", name: "in" },
        { "@id": "tool.sh", "@type": ["File", "SoftwareSourceCode"], name: "tool" },
        {
          "@id": "#run",
          "@type": "https://w3id.org/EVI#Computation",
          name: "The run",
          container: IMAGE,
          command: ["sh", "/software/tool.sh"],
          usedDataset: [{ "@id": "data/in.txt" }],
          usedSoftware: { "@id": "tool.sh" },
        },
      ],
      {
        "data/in.txt": "from the crate",
        "tool.sh": "cat /inputs/data/in.txt > result.txt; cat /inputs/.arkgraph.json",
      },
      { hasPart: [{ "@id": "data/in.txt" }, { "@id": "tool.sh" }], mentions: { "@id": "#run" } },
    );
    const { rocrateIdentifier } = await registry.take(archive, ada.token);
    const [run] = (
      await registry.graphql("{ computations(first: 50) { nodes { id name } } }")
    ).body["data"].computations.nodes.filter(({ name }: Json) => name === "The run") as Json[];
    const view = await world.run(run!["id"] as string);
    expect(view, JSON.stringify(view["error"])).toMatchObject({ status: "finished" });
    const computation = await get(`/computation/${run!["id"]}`);
    expect(computation["generated"]).toEqual([
      { "@id": expect.stringMatching(/^ark:/) as string },
      { "@id": expect.stringMatching(/^ark:/) as string },
    ]);
    const graph = await get(`/evidencegraph/query/${computation["generated"][1]["@id"]}`);
    expect((graph["@graph"] as Json[]).map((node) => node["@id"])).toEqual(
      expect.arrayContaining([run!["id"], `${rocrateIdentifier}/data/in.txt`]),
    );
  });

  it("report why a run failed, and change nothing then", async () => {
    expect(
      await failed(
        await world.computation("echo some words; echo at the end >&2; echo x > half; exit 3"),
        "COMMAND_FAILED",
      ),
    ).toMatch(/status 3\..*\nsome words\nat the end$/s);
    const long = await failed(await world.computation("seq 1 5000; sleep 100"), "RUN_TIMEOUT");
    expect(long).toMatch(/EXECUTION_TIMEOUT=4000.*4999\n5000$/s);
    expect(long.length).toBeLessThan(8_400);
    expect(
      await failed(
        await world.computation("dd if=/dev/zero of=/dev/null bs=100000000 count=1"),
        "COMMAND_FAILED",
      ),
    ).toContain("EXECUTION_MEMORY");
    expect(await failed(await world.computation("true"), "NO_OUTPUTS")).toContain("/outputs");
    expect(await failed(await world.computation(["no-such-program"]), "NOT_STARTED")).toContain(
      "no-such-program",
    );
  });

  it("limit the results of a run, while it runs and after", async () => {
    await failed(
      await world.computation("for n in $(seq 1 25); do echo $n > $n; done"),
      "TOO_MANY_OUTPUTS",
    );
    await failed(
      await world.computation(
        "head -c 9000000 /dev/zero > one; for n in 1 2 3; do head -c 900000 /dev/zero > $n; done",
      ),
      "OUTPUTS_TOO_LARGE",
    );
    await failed(
      await world.computation("for n in 1 2 3; do head -c 900000 /dev/zero > $n; done; sleep 30"),
      "OUTPUTS_TOO_LARGE",
    );
    // A link out, a pipe and a name that is no text are no results; a plain file beside them is.
    const ark = await world.computation(
      "ln -s /etc latest; ln -s / root; echo x > 'good'; echo x > \"$(printf 'a\\377b')\"; " +
        "echo y > \"$(printf 'new\\nline')\"",
    );
    const view = await world.run(ark);
    expect(view).toMatchObject({ status: "finished", identifiersMinted: 2 });
    expect((view["warnings"] as Json[]).map(({ code }) => code as string)).toEqual(
      Array(4).fill("OUTPUT_NOT_TAKEN"),
    );
  });

  it("are refused without a valid description of the run", async () => {
    expect(
      await failed(
        await world.computation(null, { container: "localhost/absent:1" }),
        "IMAGE_ABSENT",
      ),
    ).toMatch(/localhost\/absent:1 is not present.*pull/);
    await failed(
      await world.computation("true", { container: "docker.io/library/alpine:3" }),
      "IMAGE_NOT_ALLOWED",
    );
    for (const container of ["", "../../containers/json", "a b", "localhost/arkgraph-x?all=1"])
      await failed(await world.computation("true", { container }), "NO_IMAGE");
    const many = await world.data(
      Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`${index}.txt`, "x"])),
    );
    await failed(await world.computation("true", { usedDataset: many }), "INPUTS_TOO_LARGE");
    const nothing = await world.run(
      await world.computation("echo x > y", { usedDataset: "ark:99999/not-here" }),
    );
    expect(nothing).toMatchObject({ status: "finished", warnings: [{ code: "INPUT_NOT_STORED" }] });
    expect(podman.left()).toEqual([]);
  });

  it("run for callers with write access to the computation and read access to its inputs", async () => {
    const theirs = new RunWorld(registry, grace);
    const secret = await theirs.data({});
    const file = await theirs.file(secret, "secret.txt", "of Grace");
    const ark = await world.computation("cat /inputs/* > copy", { usedDataset: secret });
    expect(await world.execute(ark)).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    expect((await theirs.execute(ark)).status).toBe(403);
    expect((await registry.ask(`/computation/execute/${ark}`, { method: "PUT" })).status).toBe(401);
    expect((await world.execute("ark:99999/nothing")).status).toBe(404);
    expect((await world.execute(secret)).status).toBe(404);
    // Published, it is anybody's to use; a stranger's file that says it holds the data is not.
    await registry.publish(file, grace.token);
    await world.file(secret, "planted.txt", "of Ada");
    expect(await world.run(ark)).toMatchObject({ status: "finished" });
    const generated = (await get(`/computation/${ark}`))["generated"] as string[];
    expect(
      (await registry.ask(`/datadownload/${generated[1]}/download`, { token: ada.token })).text,
    ).not.toContain("of Ada");
    const { submissionUUID } = (await world.execute(ark)).body;
    expect(
      (await registry.ask(`/computation/execute/status/${submissionUUID}`, { token: grace.token }))
        .status,
    ).toBe(404);
    expect((await registry.ask(`/computation/execute/status/${submissionUUID}`)).status).toBe(401);
    await registry.settled(submissionUUID as string, ada.token);
    await registry.ask(`/computation/${ark}`, { method: "DELETE", token: ada.token });
    expect((await world.execute(ark)).status).toBe(410);
  });

  it("report that the computation changed while it ran", async () => {
    const ark = await world.computation(`${WAIT}; echo x > y`);
    const submissionUUID = (await world.execute(ark)).body["submissionUUID"] as string;
    await world.until(submissionUUID, inContainer);
    const document = await get(`/computation/${ark}`);
    // What does not describe the run may change.
    const renamed = await registry.ask("/computation", {
      method: "PUT",
      token: ada.token,
      body: { ...document, name: "Renamed" },
    });
    expect(renamed.status).toBe(200);
    podman.letGo(`arkgraph-${submissionUUID}-1`);
    expect(await registry.settled(submissionUUID, ada.token)).toMatchObject({ status: "finished" });
    expect(await get(`/computation/${ark}`)).toMatchObject({
      name: "Renamed",
      generated: [expect.any(String), expect.any(String)],
    });
    const again = (await world.execute(ark)).body["submissionUUID"] as string;
    await world.until(again, inContainer);
    await registry.ask("/computation", {
      method: "PUT",
      token: ada.token,
      body: { ...document, command: "echo other" },
    });
    podman.letGo(`arkgraph-${again}-1`);
    expect(await registry.settled(again, ada.token)).toMatchObject({
      status: "failed",
      error: [{ code: "CHANGED_MEANWHILE" }],
    });
  });
});
