import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { inflateSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import yauzl from "yauzl";
import { buildDemoCrate } from "../../cli/demo/crate.js";

type Entity = Record<string, unknown> & { "@id": string };
const types = (entity: Entity): string[] => [entity["@type"]].flat() as string[];
const references = (value: unknown): string[] =>
  [value]
    .flat()
    .flatMap((item) =>
      typeof item === "object" && item !== null && "@id" in item ? [item["@id"] as string] : [],
    );

const members = new Map<string, Buffer>();
let graph: Entity[];
const entity = (id: string): Entity => graph.find((candidate) => candidate["@id"] === id)!;
beforeAll(async () => {
  const archive = await yauzl.fromBufferPromise(await buildDemoCrate());
  for await (const entry of archive.eachEntry())
    members.set(entry.fileName, await buffer(await archive.openReadStreamPromise(entry)));
  graph = (JSON.parse(members.get("ro-crate-metadata.json")!.toString()) as { "@graph": Entity[] })[
    "@graph"
  ];
});

describe("the example crate", () => {
  test("is the same bytes each time", async () => {
    expect(Buffer.compare(await buildDemoCrate(), await buildDemoCrate())).toBe(0);
  });

  test("has the descriptor and root that RO-Crate 1.1 requires", () => {
    expect(entity("ro-crate-metadata.json")).toMatchObject({
      "@type": "CreativeWork",
      about: { "@id": "./" },
      conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
    });
    expect(entity("./")).toMatchObject({
      "@type": "Dataset",
      name: expect.any(String),
      description: expect.any(String),
      datePublished: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      license: { "@id": expect.stringMatching(/^https:/) },
    });
  });

  test("describes each entity once, with a type and a name", () => {
    expect(new Set(graph.map((item) => item["@id"])).size).toBe(graph.length);
    for (const item of graph.slice(1))
      expect(item, item["@id"]).toMatchObject({
        "@type": expect.anything(),
        name: expect.any(String),
      });
  });

  test(
    "reaches every file of the archive from its root through hasPart, with the file's size " +
      "and digest",
    () => {
      const reached = new Set<string>();
      const visit = (id: string): void => {
        reached.add(id);
        references(entity(id)["hasPart"]).forEach(visit);
      };
      visit("./");
      const files = [...members.keys()].filter((name) => name !== "ro-crate-metadata.json");
      expect(files).toHaveLength(12);
      for (const file of files) {
        expect(reached, file).toContain(file);
        const bytes = members.get(file)!;
        expect(entity(file)).toMatchObject({
          contentSize: String(bytes.length),
          sha256: createHash("sha256").update(bytes).digest("hex"),
        });
        expect(types(entity(file))).toContain("File");
      }
    },
  );

  test("refers only to entities that it describes", () => {
    const referred = graph.flatMap((item) =>
      Object.entries(item).flatMap(([key, value]) =>
        key === "conformsTo" ? [] : [...references(value)],
      ),
    );
    expect(referred.length).toBeGreaterThan(20);
    expect(referred.filter((id) => entity(id) === undefined)).toEqual([]);
  });

  test("contains images that are PNG, of the stated size", () => {
    const images = [...members].filter(([name]) => name.endsWith(".png"));
    expect(images.length).toBeGreaterThan(2);
    for (const [name, bytes] of images) {
      expect(bytes.subarray(1, 4).toString(), name).toBe("PNG");
      const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
      const length = bytes.readUInt32BE(33);
      expect(inflateSync(bytes.subarray(41, 41 + length)), name).toHaveLength(
        height * (width * 3 + 1),
      );
    }
  });

  test("contains results that follow from the images: the two treatments are the two clusters", () => {
    const rows = members
      .get("results/clusters.csv")!
      .toString()
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.split(","));
    const clusterOf = (well: string) =>
      new Set(rows.filter(([image]) => image!.includes(`/${well}_`)).map((row) => row[3]));
    expect([...clusterOf("A1"), ...clusterOf("B1")]).toEqual(["0", "1"]);
    expect(members.get("results/embeddings.csv")!.toString()).not.toContain("NaN");
  });
});
