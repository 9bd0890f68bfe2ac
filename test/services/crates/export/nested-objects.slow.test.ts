import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Archive } from "../../../../src/services/crates/zip/archive.js";
import {
  crate,
  type Entity,
  type Json,
  LIMITS,
  metadata,
  readerOf,
  RO_CRATE,
  zip,
} from "../../../support/crates.js";
import { LiveRegistry } from "../../../support/live-registry.js";
import type { User } from "../../../support/registry-client.js";
import { AS_CREATED } from "../../../../src/services/records/pages.js";

const FILE = "ro-crate-metadata.json";
const SUB_FILE = `sub/${FILE}`;
const ROR = "https://ror.org/02mhbdp94";

let registry: LiveRegistry;
let ada: User;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user("Ada");
});
afterAll(() => registry?.stop());

type Graphs = Record<string, Entity[]>;

/** The graphs of the metadata files of an archive. */
async function graphsOf(bytes: Buffer): Promise<Graphs> {
  const archive = await Archive.open(readerOf(bytes), LIMITS);
  const graphs: Graphs = {};
  for (const member of archive.members) {
    if (!member.name.endsWith(FILE)) continue;
    const text = (await buffer(archive.read(member))).toString();
    graphs[member.name] = (JSON.parse(text) as { "@graph": Entity[] })["@graph"];
  }
  return graphs;
}
const idsOf = (graph: readonly Entity[] = []): Json[] => graph.map((entity) => entity["@id"]!);
const entityOf = (graph: readonly Entity[] = [], id: string): Entity | undefined =>
  graph.find((entity) => entity["@id"] === id);

async function uploaded(archive: Buffer): Promise<string> {
  const { error, rocrateIdentifier: root } = await registry.take(archive, ada.token);
  expect(error).toBeNull();
  return root as string;
}

async function archiveOf(root: string): Promise<Buffer> {
  const answer = await fetch(`${registry.url}/rocrate/${root}?format=zip`, {
    headers: { Authorization: `Bearer ${ada.token}` },
  });
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

async function stateOf(root: string): Promise<Record<string, string>> {
  const { items } = await registry.deps.records.select({
    filter: { crates: [root] },
    order: AS_CREATED,
    limit: 500,
  });
  return Object.fromEntries(
    items.map(({ ark, revision, document }) => [
      ark,
      `${revision} ${Buffer.from(document).toString()}`,
    ]),
  );
}

/** Exports a crate; the export, uploaded again, must change none of these records. */
async function exported(root: string, unchanged = /./): Promise<Graphs> {
  const back = await archiveOf(root);
  const state = async () =>
    Object.entries(await stateOf(root)).filter(([ark]) => unchanged.test(ark));
  const before = await state();
  const path = `/rocrate/upload?update=true&crate=${root}`;
  const { status, text } = await registry.upload(back, ada.token, { path });
  expect(status, text).toBe(200);
  expect(await state()).toEqual(before);
  return graphsOf(back);
}

/** Each metadata file of the export has the entities of the original, in their order. */
async function sameEntities(archive: Buffer): Promise<Graphs> {
  const given = await graphsOf(archive);
  const graphs = await exported(await uploaded(archive));
  const ids = (all: Graphs) =>
    Object.fromEntries(Object.entries(all).map(([file, graph]) => [file, idsOf(graph)]));
  expect(ids(graphs)).toEqual(ids(given));
  return graphs;
}

/** Changes a record of a crate: the one whose identifier has this part. */
async function patched(root: string, part: string, changes: Entity): Promise<void> {
  const found = Object.keys(await stateOf(root)).filter((ark) =>
    ark.slice(root.length).startsWith(part),
  );
  expect(found).toHaveLength(1);
  const { status, text } = await registry.ask(`/${found[0]!}`, {
    method: "PATCH",
    token: ada.token,
    body: changes,
    headers: { "Content-Type": "application/merge-patch+json" },
  });
  expect(status, text).toBe(200);
}

const person = (id: string, more: Entity = {}): Entity => ({
  "@id": id,
  "@type": "Person",
  ...more,
});

describe("an entity that stands inside others only", () => {
  it("stays there where its values come from several places", async () => {
    await sameEntities(
      await crate([
        { "@id": "#z", "@type": "Thing", about: { "@id": "#both", name: ["Z", "Y"] } },
        { "@id": "#a", "@type": "Thing", about: { "@id": "#both", name: "A" } },
        { "@id": "#m", "@type": "Thing", about: person("#typed", { email: "m@example.org" }) },
        { "@id": "#b", "@type": "Thing", about: person("#typed", { email: "b@example.org" }) },
      ]),
    );
  });

  it("stays there where the places have different contexts", async () => {
    const contexts: Json[] = [
      { mine: "https://example.org/mine" },
      [null, { mine: "https://example.org/mine" }],
      { name: "https://example.org/name" },
    ];
    await sameEntities(
      await crate(
        contexts.flatMap((context, n): Entity[] => {
          const lab = { "@id": `https://ror.org/${n}`, name: "Said here" };
          const typed = { "@id": `#lab-${n}`, "@type": "Organization", name: "Typed" };
          const thing = { "@type": "Thing", funder: [lab, typed] };
          return [
            { "@id": `#${n}-one`, ...thing },
            { "@id": `#${n}-two`, "@context": context, mine: "m", ...thing },
            { "@id": `#${n}-three`, ...thing },
          ];
        }),
      ),
    );
  });

  it("stays there in each of the metadata files that state it", async () => {
    const lab = { "@id": ROR, name: ["One", "Two", "Three"] };
    await sameEntities(
      await zip({
        [FILE]: metadata([
          { "@id": "sub/", "@type": "Dataset" },
          { "@id": "#outer", "@type": "Thing", funder: { ...lab, name: ["Three", "Two"] } },
          { "@id": "#named", "@type": "Thing", funder: { "@id": ROR } },
        ]),
        [SUB_FILE]: metadata([{ "@id": "#inner", "@type": "Thing", funder: lab }], {}, [
          RO_CRATE,
          { mine: "https://example.org/mine" },
        ]),
      }),
    );
  });

  it("stays there and at the top where the author wrote it in both, without a type", async () => {
    const named = { "@id": "#named", name: "Twice" };
    await sameEntities(await crate([named, { "@id": "#a", "@type": "Thing", about: named }]));
  });
});

describe("the metadata of an archive", () => {
  it("has the descriptor, the root, then the other entities in the order of the author", async () => {
    const given = metadata([
      { "@id": "#z", "@type": "Thing", name: "Z" },
      { "@id": "https://example.org/m", "@type": "Thing", name: "M" },
      { "@id": "#a", "@type": "Thing", name: "A" },
    ]);
    const [descriptor, root, ...others] = given["@graph"] as Entity[];
    const graph = [root!, ...others, descriptor!];
    const back = await exported(
      await uploaded(await zip({ [FILE]: { ...given, "@graph": graph } })),
    );
    expect(idsOf(back[FILE])).toEqual(idsOf([descriptor!, root!, ...others]));
  });
});

describe("the metadata file of a crate within a crate", () => {
  it("names the metadata file of a crate within that one as its author did", async () => {
    const folder = { "@id": "in/", "@type": "Dataset", subjectOf: { "@id": `in/${FILE}` } };
    const describedFile = { "@id": `in/${FILE}`, "@type": "CreativeWork", name: "Metadata" };
    await sameEntities(
      await zip({
        [FILE]: metadata([{ "@id": "sub/", "@type": "Dataset" }]),
        [SUB_FILE]: metadata([folder, describedFile]),
        [`sub/in/${FILE}`]: metadata([], { "@id": "https://example.org/crate/" }),
      }),
    );
  });
});

describe("an entity inside others whose record was edited", () => {
  /** The others have a revision without the outdated statements. */
  const INSIDE = /\/entity\/(?:ada|lab)-/;
  const inside = person("#ada", {
    name: "Ada",
    worksFor: { "@id": "#lab", "@type": "Organization", name: "Lab" },
  });

  it("stands by itself, and the others refer to it", async () => {
    const root = await uploaded(
      await crate([{ "@id": "#run", "@type": "CreateAction", agent: inside }]),
    );
    await patched(root, "/entity/ada-", { name: "Ada Lovelace" });
    const { [FILE]: graph } = await exported(root, INSIDE);
    expect(entityOf(graph, "#run")).toMatchObject({ agent: { "@id": "#ada" } });
    expect(entityOf(graph, "#run")!["agent"]).toEqual({ "@id": "#ada" });
    expect(entityOf(graph, "#ada")).toMatchObject({ ...inside, name: "Ada Lovelace" });
  });

  it("stands by itself, and the descriptor refers to it", async () => {
    const given = metadata();
    const [descriptor, ...others] = given["@graph"] as Entity[];
    const graph = [{ ...descriptor!, sdPublisher: inside }, ...others];
    const root = await uploaded(await zip({ [FILE]: { ...given, "@graph": graph } }));
    await patched(root, "/entity/ada-", { name: "Ada Lovelace" });
    const { [FILE]: back } = await exported(root, INSIDE);
    expect(entityOf(back, FILE)!["sdPublisher"]).toEqual({ "@id": "#ada" });
    expect(entityOf(back, "#ada")).toMatchObject({ ...inside, name: "Ada Lovelace" });
  });

  it("loses nothing of what stood inside it", async () => {
    const root = await uploaded(
      await crate([{ "@id": "#run", "@type": "CreateAction", agent: inside }]),
    );
    await patched(root, "/entity/ada-", { name: "Ada Lovelace", worksFor: null });
    const { [FILE]: graph } = await exported(root, INSIDE);
    expect(idsOf(graph)).toEqual([FILE, "./", "#run", "#ada", "#lab"]);
  });
});
