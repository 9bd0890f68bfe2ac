import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { KINDS } from "../../src/model/kinds.js";
import type { ShapeReport } from "../../src/services/validation/document.js";
import type { StoredRecord } from "../../src/storage/records/port.js";
import { unnamed, WRITABLE } from "../support/bodies.js";
import { crate, REAL_CRATES, zipFolder } from "../support/crates.js";
import { type Person, startServer, type TestServer } from "../support/server.js";
import { findProgram } from "../support/servers/programs.js";
import { pagesOf } from "../../src/services/records/pages.js";

// The shapes are public: who checks our records by them with an engine of others must come to what
// /validate says.
const FOLDER = join(process.env["TEST_SERVERS"] ?? "", "judges");
const installed =
  process.env["TEST_SERVERS"] !== undefined &&
  existsSync(join(FOLDER, "pyshacl")) &&
  findProgram("python3") !== undefined &&
  existsSync(REAL_CRATES);
if (!installed)
  process.stderr.write(
    "\n!! SKIPPED: pySHACL is not here; python3 -m pip install --target FOLDER/judges -r " +
      "test/judges/requirements.txt, with TEST_SERVERS=FOLDER, and ../shared/data/crates, to " +
      "compare its verdicts with the service's.\n\n",
  );

type Finding = [node: string, path: string];

function verdictsOfPyshacl(
  shapes: string,
  records: Record<string, string>,
): Promise<Record<string, Finding[]>> {
  return new Promise((resolve, reject) => {
    const python = spawn(
      "python3",
      [fileURLToPath(new URL("pyshacl-verdicts.py", import.meta.url))],
      { env: { ...process.env, PYTHONPATH: FOLDER }, stdio: ["pipe", "pipe", "pipe"] },
    );
    let out = "";
    let err = "";
    python.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    python.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    python
      .on("error", reject)
      .on("close", (code) =>
        code === 0
          ? resolve(JSON.parse(out) as Record<string, Finding[]>)
          : reject(new Error(`pySHACL ended with ${code}: ${err.slice(-2000)}`)),
      );
    python.stdin.end(JSON.stringify({ shapes, records }));
  });
}

/** What is amiss in it must be found by both. */
const LATER = { dateCreated: "in May", dateModified: "soon", uploadDate: "later" };
const AMISS = [
  { "@id": "a.csv", "@type": "File", name: "A table", generatedBy: { "@id": "#run" }, ...LATER },
  { "@id": "b/", "@type": "Dataset", name: 5, license: "some licence", ...LATER },
  {
    "@id": "#tool",
    "@type": "SoftwareApplication",
    name: "A tool",
    usedByComputation: ["no identifier"],
  },
  { "@id": "#run", "@type": "CreateAction", name: "Run", object: { "@id": "a.csv" }, ...LATER },
];

describe.skipIf(!installed)("pySHACL with the public shapes", () => {
  let server: TestServer;
  let ada: Person;
  const records: StoredRecord[] = [];
  /** What the service finds, by record. */
  const found = new Map<string, Finding[]>();

  beforeAll(async () => {
    server = await startServer({ VALIDATE_MAX_RESULTS: "100000", UPLOAD_WAIT: "5m" });
    ada = await server.person("ada");
    for (const kind of WRITABLE) {
      for (let i = 0; i < 2; i++) {
        const { status, text } = await server.request("POST", `/${KINDS[kind].path}`, {
          token: ada.token,
          json: unnamed(kind, ada.id, {
            name: `A ${kind}, number ${i}`,
            ...(i === 0 ? {} : { keywords: ["a", "b"] }),
          }),
        });
        expect(status, text).toBe(200);
      }
    }
    const archives: Buffer[] = [
      await buildDemoCrate(),
      await crate(AMISS, { "a.csv": "1", "b/": null }),
    ];
    for (const name of readdirSync(REAL_CRATES).filter((each) => !/^(?:BROKEN|README)/.test(each)))
      archives.push(
        statSync(join(REAL_CRATES, name)).isDirectory()
          ? await zipFolder(join(REAL_CRATES, name))
          : readFileSync(join(REAL_CRATES, name)),
      );
    for (const archive of archives) {
      const form = new FormData();
      form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
      const { status, text } = await server.request("POST", "/rocrate/upload", {
        token: ada.token,
        body: form,
      });
      expect(status, text.slice(0, 500)).toBe(200);
    }
    for await (const page of pagesOf(server.deps.records, { filter: {} }, { limit: 500 }))
      records.push(...page);
    for (const { ark, kind, crate: home } of records) {
      if (home !== null && kind !== "rocrate") continue;
      const { status, body, text } = await server.request<ShapeReport>("POST", "/validate", {
        json: { "@id": ark },
      });
      expect([status, body.truncated], text.slice(0, 500)).toEqual([200, false]);
      for (const { node, path } of body.results)
        found.set(node, [...(found.get(node) ?? []), [node, path!]]);
    }
  }, 600_000);
  afterAll(() => server?.stop());

  it(
    "reaches the result of POST /validate for every record: the demo's, of real crates, " +
      "and written over the API",
    async () => {
      expect(records.length).toBeGreaterThan(300);
      const graphs: Record<string, string> = {};
      for (const { ark } of records) {
        const { status, text } = await server.request("GET", `/${ark}`, {
          headers: { Accept: "text/turtle" },
        });
        expect(status, ark).toBe(200);
        graphs[ark] = text;
      }
      const { text: shapes } = await server.request("GET", "/ontology/shapes");
      const theirs = await verdictsOfPyshacl(shapes, graphs);
      const pathsOf = (findings: Finding[] | undefined): string[] =>
        [...new Set((findings ?? []).map(([, path]) => path))].toSorted();
      const differing = records.filter(
        ({ ark }) => pathsOf(theirs[ark]).join() !== pathsOf(found.get(ark)).join(),
      );
      expect(
        differing
          .map(({ ark, kind }) => ({
            ark,
            kind,
            ours: pathsOf(found.get(ark)),
            theirs: theirs[ark],
          }))
          .slice(0, 10),
      ).toEqual([]);
      const amiss = records.filter(({ ark }) => pathsOf(theirs[ark]).length > 0);
      expect(amiss.map(({ kind }) => kind)).toEqual(
        expect.arrayContaining(["datadownload", "dataset", "software", "computation"]),
      );
      expect(amiss.length).toBeLessThan(records.length / 10);
    },
    600_000,
  );

  it("finds no violation in the demo's own records, nor does POST /validate", () => {
    const demo = records.find(({ kind, name }) => kind === "rocrate" && name?.includes("Cell"))!;
    const members = records.filter(({ ark, crate: home }) => ark === demo.ark || home === demo.ark);
    expect(members.length).toBeGreaterThan(15);
    expect(members.filter(({ ark }) => found.has(ark))).toEqual([]);
  });
});
