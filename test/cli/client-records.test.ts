import { createHash } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { storeContent } from "../support/content.js";
import { failure, useRegistry } from "../support/client-rig.js";
import { hasTerminals, inTerminal } from "./terminal.js";

const rig = useRegistry();
const { tool, folder } = rig;
const CONTENT = Array.from({ length: 60_000 }, (_, row) => `row ${row}\n`).join("");

beforeAll(async () => {
  const server = rig.server();
  const ada = rig.ada();
  const json = (id: string, name: string, more: object = {}) => ({
    "@id": id,
    "@type": "evi:Dataset",
    name,
    description: "Cells of each image.",
    owner: ada.id,
    ...more,
  });
  await rig.login();
  await server.request("POST", "/dataset", {
    token: ada.token,
    json: json("ark:99999/raw", "Raw \u001b[31mimages"),
  });
  await server.request("POST", "/dataset", {
    token: ada.token,
    json: json("ark:99999/counts", "Cell counts", { derivedFrom: "ark:99999/raw" }),
  });
  await server.request("POST", "/dataset", {
    token: ada.token,
    json: json("ark:99999/a%20b/c.csv", "Odd name"),
  });
  const [record] = await server.deps.records.findMany(["ark:99999/counts"]);
  await storeContent(server.deps, record!, CONTENT);
});

describe("arkgraph get", () => {
  it("prints a record in three forms, by any spelling of its identifier", async () => {
    const { status, stdout } = await tool("get ark:/99999/cou-nts");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ "@id": "ark:99999/counts", name: "Cell counts" });
    expect(
      (await tool(`get ${rig.server().url}/ark:99999/counts --format turtle`)).stdout,
    ).toContain('schema:name "Cell counts"');
    expect((await tool("get ark:99999/counts --format nquads")).stdout).toMatch(
      /<https:\/\/schema\.org\/name> "Cell counts"/,
    );
    expect(JSON.parse((await tool("get ark:99999/a%20b/c.csv")).stdout)).toMatchObject({
      name: "Odd name",
    });
  });

  it("fails with one line", async () => {
    expect(await tool("get ark:99999/none")).toEqual(
      failure("Nothing is stored under ark:99999/none."),
    );
    expect(await tool("get none")).toEqual(
      failure("none is not an ARK: write ark:<NAAN>/<name>, e.g. ark:99999/dataset-cells"),
    );
    const unknown = await tool("get ark:99999/counts --format xml");
    expect([unknown.status, unknown.stderr]).toEqual([1, expect.stringContaining("'turtle'")]);
  });
});

describe("arkgraph evidence", () => {
  it("shortens identifiers of one crate, and explains the short form", async () => {
    const { token, id: owner } = rig.ada();
    const crateArk = "ark:99999/rocrate-long-name";
    const inside = (name: string, more: object = {}) => ({
      "@id": `${crateArk}/${name}`,
      "@type": "evi:Dataset",
      name,
      description: "Something.",
      owner,
      ...more,
    });
    for (const body of [
      inside("a.csv"),
      inside("b.csv", { derivedFrom: [`${crateArk}/a.csv`, "ark:99999/raw"] }),
    ])
      await rig.server().request("POST", "/dataset", { token, json: body });
    const { stdout } = await tool(`evidence ${crateArk}/b.csv`);
    expect(stdout).toContain("b.csv (Dataset) …/b.csv");
    expect(stdout).toContain(" (Dataset) ark:99999/raw");
    expect(stdout.match(/ark:99999\/rocrate-long-name/g)).toHaveLength(1);
    expect(stdout.trimEnd().split("\n").at(-1)).toBe(`…/ stands for ${crateArk}/`);
  });

  it("draws a tree, and removes control characters from names", async () => {
    const { stdout } = await tool("evidence ark:99999/counts");
    expect(stdout).toBe(
      "Cell counts (Dataset) ark:99999/counts\n└─ derivedFrom: Raw [31mimages (Dataset) " +
        "ark:99999/raw\n",
    );
    expect((await tool("evidence ark:99999/raw --direction downstream")).stdout).toContain(
      "(inverse): Cell counts",
    );
    expect(
      JSON.parse((await tool("evidence ark:99999/counts --format json --limit 1")).stdout),
    ).toMatchObject({ "@id": "ark:99999/counts", truncated: true });
    expect((await tool("evidence ark:99999/counts --limit 1")).stdout).toContain(
      "more nodes follow",
    );
    expect(await tool("evidence ark:99999/none")).toEqual(
      failure(/Nothing is stored under ark:99999\/none.*/),
    );
  });
});

describe("arkgraph score", () => {
  it("shows every criterion, or what to do", async () => {
    const server = rig.server();
    await server.request("POST", "/rocrate/metadata", {
      token: rig.ada().token,
      json: {
        "@context": "https://w3id.org/ro/crate/1.1/context",
        "@graph": [
          {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            about: { "@id": "ark:99999/rocrate-scored" },
            conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
          },
          {
            "@id": "ark:99999/rocrate-scored",
            "@type": "Dataset",
            name: "Sco\u001b[31mred",
            license: "MIT",
          },
        ],
      },
    });
    await expect.poll(async () => (await tool("score ark:99999/rocrate-scored")).status).toBe(0);
    const { stdout } = await tool("score ark:/99999/rocrate-scored");
    expect(stdout).toMatch(
      /^AI-Ready Score for Sco\\x1b\[31mred: \d+ met and \d+ partly, of \d+\n\nfairness\n {2}partly {10}findable: /,
    );
    expect(stdout).toContain("  met             reusable: license: MIT\n");
    const fixes = (await tool("score ark:99999/rocrate-scored --fixes")).stdout;
    expect(fixes).toContain(
      "  partly          findable: Add description and keywords to the root.\n",
    );
    expect(fixes).not.toContain("reusable");
    expect(JSON.parse((await tool("score ark:99999/rocrate-scored --json")).stdout)).toMatchObject({
      rocrateIdentifier: "ark:99999/rocrate-scored",
      fairness: { reusable: { status: "met" } },
    });
    expect(await tool("score ark:99999/counts")).toEqual(
      failure(/ark:99999\/counts is a Dataset.*/),
    );
  });
});

describe("arkgraph search", () => {
  it("lists the records found", async () => {
    const { status, stdout } = await tool("search cell counts");
    expect(status).toBe(0);
    expect(stdout).toBe(
      `Cell counts (Dataset)\n  ${rig.server().url}/ark:99999/counts\n  Cells of each image.\n\n1 record\n`,
    );
    expect((await tool("search cells --limit 1")).stdout).toMatch(
      /\n3 records; next page: --offset 1\n$/,
    );
    expect(JSON.parse((await tool("search cells --json --type Dataset")).stdout)).toMatchObject({
      total_results: 3,
    });
    expect((await tool("search counts xylophone --semantic")).stdout).toContain("ark:99999/counts");
    expect((await tool("search xylophone")).stdout).toBe("0 records\n");
    expect(await tool(["search", " "])).toEqual(
      failure("query.query: String should have at least 1 character"),
    );
    expect((await tool("search")).status).toBe(2);
  });

  it.skipIf(!hasTerminals)(
    "highlights the matches in bold, on a terminal that supports colours",
    async () => {
      const shown = async (env: Record<string, string>) =>
        (
          await inTerminal(["search", "counts"], {
            cwd: folder.path(),
            env: { ...rig.env(), ...env },
          })
        ).shown;
      expect(await shown({})).toContain("Cell \u001b[1mcounts\u001b[22m");
      expect(await shown({ NO_COLOR: "1" })).toContain("Cell counts (Dataset)\n");
    },
  );
});

describe("arkgraph publish", () => {
  it("sets who may read the content", async () => {
    expect(await tool("publish ark:99999/raw --status EMBARGOED --until 2099-01-01")).toEqual({
      status: 0,
      stdout: "ark:99999/raw EMBARGOED until 2099-01-01\n",
      stderr: "",
    });
    expect((await tool("publish ark:99999/raw")).stdout).toBe("ark:99999/raw PUBLISHED\n");
    expect(await tool("publish ark:99999/raw --until 2099-01-01")).toEqual(
      failure("--until sets the end of an embargo: use it with --status EMBARGOED"),
    );
    expect((await tool("publish ark:99999/raw --status OPEN")).status).toBe(2);
    expect(await tool("publish ark:99999/raw", undefined, { XDG_CONFIG_HOME: "/nowhere" })).toEqual(
      failure(/you are not logged in to http.*: run arkgraph login/),
    );
  });
});

describe("arkgraph withdraw, and publish with the status ARCHIVED", () => {
  it("ask why where others could read the record, and what to use instead", async () => {
    const { server, ada } = rig;
    const dataset = async () =>
      (
        await server().request<{ "@id": string }>("POST", "/dataset", {
          token: ada().token,
          json: bodyOf("dataset", ada().id),
        })
      ).body["@id"];
    const [open, draft, next] = [await dataset(), await dataset(), await dataset()];
    await tool(`publish ${open}`);
    const asked = failure(
      new RegExp(`others could read ${open}: say why with --reason, .* with --successor`),
    );
    expect(await tool(`publish ${open} --status ARCHIVED`)).toEqual(asked);
    expect(await tool(`withdraw ${open}`)).toEqual(asked);
    expect(await tool(`publish ${open} --reason wrong`)).toEqual(
      failure("--reason and --successor are for withdrawal: use them with --status ARCHIVED"),
    );
    const said = ["--reason", "A wrong unit", "--successor", next];
    expect(await tool(["withdraw", open, "--reason", "A", "--successor", "it"])).toEqual(
      failure(/it is not an ARK.*/),
    );
    expect(await tool(["publish", open, "--status", "ARCHIVED", ...said])).toMatchObject({
      stdout: `${open} ARCHIVED\n`,
    });
    const { body } = await server().request("GET", `/publish/${open}`);
    expect(body).toMatchObject({ reason: "A wrong unit", successor: next });
    expect((await tool(["withdraw", open, ...said])).stdout).toBe(`${open} withdrawn\n`);
    const gone = await server().request("GET", `/${open}`);
    expect(gone).toMatchObject({
      status: 410,
      body: { reason: "A wrong unit", successor: next },
    });
    expect((await tool(`withdraw ${draft}`)).stdout).toBe(`${draft} withdrawn\n`);
  });
});

describe("arkgraph download", () => {
  /** Stands before the registry and cuts connections off after so many bytes. */
  let flaky: Server;
  let through: string;
  let cuts: number[] = [];
  const ranges: (string | undefined)[] = [];
  beforeAll(async () => {
    flaky = createServer((req, res) => {
      const headers = { ...req.headers };
      if (req.method === "GET") ranges.push(headers.range);
      const passed = request(
        new URL(req.url!, rig.server().url),
        { method: req.method!, headers },
        (answer) => {
          res.writeHead(answer.statusCode!, answer.headers);
          const cut = req.method === "GET" ? cuts.shift() : undefined;
          let sent = 0;
          answer.on("data", (part: Buffer) => {
            const space = cut === undefined ? part.length : Math.min(part.length, cut - sent);
            if (space > 0) res.write(part.subarray(0, space));
            sent += part.length;
            if (cut !== undefined && sent >= cut) setTimeout(() => res.destroy(), 20);
          });
          answer.on("end", () => (cut === undefined || sent < cut) && res.end());
        },
      );
      passed.on("error", () => res.destroy());
      passed.end();
    });
    through = `http://127.0.0.1:${await new Promise<number>((resolve) => flaky.listen(0, "127.0.0.1", () => resolve((flaky.address() as { port: number }).port)))}`;
  });
  afterAll(() => new Promise((resolve) => flaky.close(resolve)));
  const partials = async () =>
    (await readdir(folder.path())).filter((name) => name.endsWith(".part"));
  const env = async () => ({ ARKGRAPH_SERVER: through, ARKGRAPH_TOKEN: rig.ada().token });

  it("writes the file as it is stored, and does not overwrite one", async () => {
    expect(await tool("download ark:99999/counts -o counts.csv")).toEqual({
      status: 0,
      stdout: `Wrote counts.csv (${CONTENT.length} bytes, SHA-256 as recorded)\n`,
      stderr: "",
    });
    expect(await readFile(join(folder.path(), "counts.csv"), "utf8")).toBe(CONTENT);
    expect(await tool("download ark:99999/counts -o counts.csv")).toEqual(
      failure(
        "counts.csv exists already: choose another name with --output, or add --force to " +
          "overwrite it",
      ),
    );
    expect((await tool("download ark:99999/counts -o counts.csv --force")).status).toBe(0);
    expect((await tool("download ark:99999/counts --output -")).stdout).toBe(CONTENT);
    expect((await tool("download ark:99999/counts")).stdout).toMatch(/^Wrote [^/.][^/]* \(/);
    expect(await tool("download ark:99999/raw")).toEqual(
      failure(/No content is stored for ark:99999\/raw.*/),
    );
    expect(await tool("download ark:99999/counts -o no/such/file.csv")).toEqual(
      failure(
        "no/such: there is no such folder; create it first (mkdir -p), or write to another path",
      ),
    );
    expect(
      await tool("download ark:99999/counts -o x.csv", undefined, { XDG_CONFIG_HOME: "/nowhere" }),
    ).toEqual(failure(/The content of ark:99999\/counts is DRAFT: .*/));
    expect(await partials()).toEqual([]);
  });

  it("resumes after a broken connection", async () => {
    cuts = [100_000, 200_000];
    ranges.length = 0;
    const ended = await tool("download ark:99999/counts -o cut.csv", undefined, await env());
    expect(ended.status).toBe(0);
    expect(ranges).toHaveLength(3);
    expect(ranges.slice(1).every((range) => /^bytes=[1-9]\d+-$/.test(range!))).toBe(true);
    expect(await readFile(join(folder.path(), "cut.csv"), "utf8")).toBe(CONTENT);
  });

  it("resumes the download of an earlier run if the content is the same", async () => {
    const sha256 = createHash("sha256").update(CONTENT).digest("hex");
    await writeFile(
      join(folder.path(), `.left.csv.${sha256.slice(0, 16)}.part`),
      CONTENT.slice(0, 50_000),
    );
    ranges.length = 0;
    expect(
      (await tool("download ark:99999/counts -o left.csv", undefined, await env())).status,
    ).toBe(0);
    expect(ranges).toEqual(["bytes=50000-"]);
    expect(await readFile(join(folder.path(), "left.csv"), "utf8")).toBe(CONTENT);
  });

  it("discards bytes whose hash differs from the registry's", async () => {
    const sha256 = createHash("sha256").update(CONTENT).digest("hex");
    await writeFile(
      join(folder.path(), `.bad.csv.${sha256.slice(0, 16)}.part`),
      "x".repeat(50_000),
    );
    expect(await tool("download ark:99999/counts -o bad.csv")).toEqual(
      failure(
        /the downloaded content has the SHA-256 [0-9a-f]{64} instead of [0-9a-f]{64}: it was discarded, try again/,
      ),
    );
    expect((await readdir(folder.path())).filter((name) => name.includes("bad.csv"))).toEqual([]);
  });
});

describe("arkgraph schema push and pull", () => {
  it("registers the output of schema infer and schema import unchanged", async () => {
    await writeFile(join(folder.path(), "cells.csv"), "image,cells\na.png,3\n");
    for (const making of [
      "schema infer cells.csv --output made.json --force",
      "schema import frictionless.json --from frictionless --output made.json --force",
    ]) {
      await writeFile(
        join(folder.path(), "frictionless.json"),
        JSON.stringify({ fields: [{ name: "image", type: "string" }] }),
      );
      expect((await tool(making)).status, making).toBe(0);
      expect(await tool("schema push made.json"), making).toEqual({
        status: 0,
        stdout: expect.stringMatching(/^Pushed Schema: ark:/),
        stderr: "",
      });
    }
  });

  it("register a schema, replace it, and fetch it", async () => {
    await tool([
      "schema",
      "create-tabular",
      "--name",
      "Genes",
      "--description",
      "One gene a row",
      "--separator",
      ",",
      "--guid",
      "ark:99999/schema-genes",
      "genes.json",
    ]);
    expect(await tool("schema push genes.json")).toEqual({
      status: 0,
      stdout: "Pushed Schema: ark:99999/schema-genes\n",
      stderr: "",
    });
    expect(await tool("schema push genes.json")).toEqual(
      failure(
        /genes\.json: ark:99999\/schema-genes is taken by a schema.* Use --update to replace it\./,
      ),
    );
    await tool([
      "schema",
      "add-property",
      "string",
      "--name",
      "symbol",
      "--index",
      "0",
      "--description",
      "Symbol",
      "genes.json",
    ]);
    expect((await tool("schema push genes.json --update")).status).toBe(0);
    expect(await tool("schema pull ark:99999/schema-genes --output pulled.json")).toEqual({
      status: 0,
      stdout: "Wrote Schema: pulled.json\n",
      stderr: "",
    });
    const [pushed, pulled] = (
      await Promise.all(
        ["genes.json", "pulled.json"].map((file) => readFile(join(folder.path(), file), "utf8")),
      )
    ).map((text) => JSON.parse(text) as object);
    expect(pulled).toMatchObject(pushed!);
    expect((await tool("schema validate --data - --schema pulled.json", "TP53\n")).stdout).toBe(
      "Validation Success\n",
    );
    expect(await tool("schema pull ark:99999/schema-genes --output pulled.json")).toEqual(
      failure("pulled.json exists already: choose another name, or add --force to overwrite it"),
    );
    expect(await tool("schema pull ark:99999/none")).toEqual(
      failure("Nothing is stored under ark:99999/none."),
    );
    await folder.write("bad.json", "{");
    expect(await tool("schema push bad.json")).toEqual(
      failure(/bad\.json: the schema is not JSON: .*/),
    );
    expect(await tool("schema push none.json")).toEqual(
      failure("none.json: there is no such file or folder"),
    );
  });
});
