import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Entity, type Members, realCrate, zip } from "../support/crates.js";
import { ingestInThisThread } from "../support/intake-here.js";
import { RegistryClient } from "../support/registry-client.js";
import { openIntakeRig } from "../support/registry.js";
import { startServer, type TestServer } from "../support/server.js";
import { askTools, maySkip, toolsMissing } from "../support/servers/judges.js";
import { sharedData } from "../support/shared-data.js";
import { variedCrate } from "../support/varied-crates.js";

// The tools of others read each crate as it was given and as the registry exports it.
const METADATA = "ro-crate-metadata.json";
const REAL = sharedData("crates");
const QUERIES = sharedData("judges/workflow-run-queries");
function listed(folder: string | undefined): string[] {
  if (!folder) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() || /\.(?:zip|eln)$/.test(entry.name))
    .map(({ name }) => name);
}
/** The crates that are refused have no export. */
const CRATES = listed(REAL).filter((name) => !name.startsWith("BROKEN-"));
/** Metadata without files. */
const DOCUMENTS = listed(QUERIES);
const NAMES = [...CRATES, ...DOCUMENTS];

/**
 * Crates of the older layout: roc-validator finds no descriptor in the original, and runs few of
 * its checks.
 */
const OLDER_LAYOUT: ReadonlySet<string> = new Set([
  "fs-mds-reasoning",
  "fs-mds-zip-test-crate.zip",
]);
const COMPARABLE = NAMES.filter((name) => !OLDER_LAYOUT.has(name));

/**
 * Advice (never a requirement) that roc-validator gives on an export for a decision of this
 * registry.
 */
const BY_DECISION: Readonly<Record<string, string>> = {
  "ro-crate-1.1_28.1":
    "A file without content has an ARK, and the validator cannot see whether that is available.",
  "workflow-ro-crate-1.0_6.1": "A README.md without content has an ARK, and is not in the archive.",
  "workflow-ro-crate-1.0_6.2": "A README.md without content has an ARK, and is not in the archive.",
};

interface Sides<T> {
  original: T;
  export: T;
}
interface Issue {
  check: string;
  severity: "REQUIRED" | "RECOMMENDED";
  entity: string | null;
  property: string | null;
  message: string | null;
}
type Entities = Record<string, Record<string, unknown>>;
interface Claimed {
  /** Why ro-crate-py does not open the crate. */
  opened: Sides<string | null>;
  /** Of the original also what is found in the crates within it: the export describes them too. */
  validated?: Sides<{ issues: Issue[]; errors: string[] }>;
  read: Sides<{ entities?: Entities; error?: string }>;
}

/** The folder of the crate in an archive that is unpacked. */
async function unpacked(archive: Uint8Array, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "crate.zip"), archive);
  const content = join(folder, "content");
  await promisify(execFile)("unzip", ["-q", join(folder, "crate.zip"), "-d", content]);
  const paths = readdirSync(content, { recursive: true, encoding: "utf8" });
  const depth = (path: string): number => path.split("/").length;
  const [shallowest] = paths
    .filter((path) => `/${path}`.endsWith(`/${METADATA}`))
    .toSorted((a, b) => depth(a) - depth(b));
  return join(content, dirname(shallowest!));
}

/** What is found more often in the export than in the original, by check, with the place of one. */
function foundMore(
  { original, export: exported }: Required<Claimed>["validated"],
  severity: Issue["severity"],
): string[] {
  const timesIn = (issues: Issue[], check: string): number =>
    issues.filter((issue) => issue.check === check).length;
  const firsts = new Map<string, Issue>();
  for (const issue of exported.issues) {
    if (issue.severity === severity && !firsts.has(issue.check)) firsts.set(issue.check, issue);
  }
  return [...firsts].flatMap(([check, { entity, property, message }]) => {
    const [before, after] = [timesIn(original.issues, check), timesIn(exported.issues, check)];
    return after > before
      ? [`${check}: ${after} instead of ${before}, such as ${entity} ${property}: ${message}`]
      : [];
  });
}

const withoutSlashes = (entities: Entities): Entities =>
  JSON.parse(JSON.stringify(entities).replaceAll(/"(ark:[^"]+)\/"/g, '"$1"')) as Entities;

describe.skipIf(!REAL || !QUERIES || (maySkip && toolsMissing()))("third-party tools", () => {
  let server: TestServer;
  let folder: string;
  let stated: Record<string, Claimed>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-judged-"));
    server = await startServer();
    const client = new RegistryClient(server.url);
    const { token } = await client.user();
    const documentOf = async (name: string, crate: string): Promise<string> => {
      const headers = { Accept: "application/ld+json" };
      const { status, text } = await client.ask(`/rocrate/${crate}`, { token, headers });
      expect(status).toBe(200);
      const path = join(folder, name, "document.json");
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      return path;
    };
    const exported = async (name: string, crate: string) => {
      const headers = { Authorization: `Bearer ${token}` };
      const zip = await fetch(`${server.url}/rocrate/${crate}?format=zip`, { headers });
      expect(zip.status).toBe(200);
      const content = await unpacked(
        Buffer.from(await zip.arrayBuffer()),
        join(folder, name, "export"),
      );
      return {
        export: content,
        document: await documentOf(name, crate),
        validated: COMPARABLE.includes(name),
      };
    };
    const crates: Record<
      string,
      { original: string; export: string; document: string; validated: boolean }
    > = {};
    for (const name of CRATES) {
      const archive = (await realCrate(name))!;
      const submission = await client.take(archive, token);
      expect(submission, name).toMatchObject({ status: "finished" });
      const sides = await exported(name, submission["rocrateIdentifier"] as string);
      crates[name] = {
        ...sides,
        original: await unpacked(archive, join(folder, name, "original")),
      };
    }
    for (const name of DOCUMENTS) {
      const original = join(QUERIES!, name);
      const body = await readFile(join(original, METADATA), "utf8");
      const made = await client.ask("/rocrate/metadata", { token, body });
      expect(made.status, made.text).toBe(200);
      crates[name] = { ...(await exported(name, made.body["@id"] as string)), original };
    }
    stated = await askTools("read-crates.py", { crates });
  }, 600_000);
  afterAll(async () => {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(NAMES)("ro-crate-py opens the export of %s if it opens the original", (name) => {
    const { original, export: exported } = stated[name]!.opened;
    if (original === null) expect(exported).toBeNull();
  });

  it.each(COMPARABLE)(
    "roc-validator finds no requirement broken by the export of %s alone",
    (name) => {
      const validated = stated[name]!.validated!;
      const kinds = ({ errors }: { errors: string[] }) =>
        errors.map((error) => error.split(":")[0]);
      expect(kinds(validated.original)).toEqual(expect.arrayContaining(kinds(validated.export)));
      expect(foundMore(validated, "REQUIRED")).toEqual([]);
    },
  );

  it.each(COMPARABLE)(
    "roc-validator has no more advice on the export of %s than on the original",
    (name) => {
      const more = foundMore(stated[name]!.validated!, "RECOMMENDED");
      expect(more.filter((found) => !Object.hasOwn(BY_DECISION, found.split(":")[0]!))).toEqual([]);
    },
  );

  it.each(NAMES)(
    "fairscape_models reads from the document of %s what it reads from the original",
    (name) => {
      const { original, export: document } = stated[name]!.read;
      if (original.entities === undefined) return;
      expect(document.error).toBeUndefined();
      // An ARK means the same with a slash at its end.
      const read = withoutSlashes(document.entities!);
      for (const [id, entity] of Object.entries(withoutSlashes(original.entities))) {
        expect(read[id], id).toMatchObject(entity);
      }
    },
  );

  it("each tool reads some of the originals", () => {
    const all = Object.values(stated);
    expect(all.filter(({ opened }) => opened.original === null).length).toBeGreaterThan(10);
    expect(
      all.filter(({ validated }) => validated?.original.errors.length === 0).length,
    ).toBeGreaterThan(10);
    expect(all.filter(({ read }) => read.original.entities !== undefined).length).toBeGreaterThan(
      1,
    );
  });
});

/** The validator takes two seconds of CPU time for each: before a release run it with 300. */
const GENERATED = Number(process.env["GENERATED_CRATES"] ?? 40);
/** The validator looks for one name of metadata files, and reads no `@vocab`. */
const isComparable = (members: Members): boolean =>
  Object.entries(members).every(
    ([name, content]) =>
      !name.endsWith(".jsonld") &&
      (!name.endsWith(METADATA) ||
        JSON.stringify((content as Entity)["@context"] ?? "").includes("w3id.org/ro/crate/")),
  );
describe.skipIf(maySkip && toolsMissing())("roc-validator", () => {
  it(
    "finds nothing in the exports of generated crates that it does not find in the originals",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "arkgraph-generated-"));
      const rig = await openIntakeRig({}, ingestInThisThread);
      try {
        const crates: Record<string, object> = {};
        for (let seed = 0; Object.keys(crates).length < GENERATED; seed++) {
          const members = variedCrate(seed);
          if (!isComparable(members)) continue;
          const archive = await zip(members);
          const { error, rocrateIdentifier } = await rig.upload(archive);
          expect([seed, error]).toEqual([seed, null]);
          const back = await rig.exported(rocrateIdentifier!);
          const content = await unpacked(back, join(folder, `${seed}`, "export"));
          crates[seed] = {
            original: await unpacked(archive, join(folder, `${seed}`, "original")),
            export: content,
            document: join(content, METADATA),
            validated: true,
          };
        }
        const halves = [0, 1].map((half) =>
          Object.fromEntries(Object.entries(crates).filter((_, index) => index % 2 === half)),
        );
        const [even, odd] = await Promise.all(
          halves.map((half) =>
            askTools<Record<string, Claimed>>("read-crates.py", { crates: half }),
          ),
        );
        const stated = { ...even, ...odd };
        const found = Object.entries(stated).flatMap(([seed, { validated }]) =>
          (["REQUIRED", "RECOMMENDED"] as const)
            .flatMap((severity) => foundMore(validated!, severity))
            .filter((one) => !Object.hasOwn(BY_DECISION, one.split(":")[0]!))
            .map((one) => `${seed}: ${one}`),
        );
        expect(found).toEqual([]);
        expect(
          Object.values(stated).filter(({ validated }) => validated!.original.errors.length === 0),
        ).toHaveLength(GENERATED);
      } finally {
        await rig.close();
        await rm(folder, { recursive: true });
      }
    },
    Math.max(1_200_000, GENERATED * 30_000),
  );
});
