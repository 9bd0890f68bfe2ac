// Writes until it is killed, and prints a line for each write that was answered.
import { writeSync } from "node:fs";
import { arkKey } from "../../../../dist/src/identifiers/ark.js";
import { openSqliteRecordStore } from "../../../../dist/src/storage/records/sqlite/index.js";

const [, , file, round = "0"] = process.argv;
const store = await openSqliteRecordStore({ file });
const link = (target) => ({ predicate: "evi:usedDataset", target, targetKey: arkKey(target) });

function stateOf(ark, revision, links) {
  const name = `${ark} at ${revision}`;
  const quads =
    [
      `<${ark}> <https://schema.org/name> "${name}" <${ark}> .`,
      ...links.map(
        ({ target }) => `<${ark}> <https://w3id.org/EVI#usedDataset> <${target}> <${ark}> .`,
      ),
    ]
      .toSorted()
      .join("\n") + "\n";
  return {
    kind: "dataset",
    name,
    owner: null,
    document: new TextEncoder().encode(JSON.stringify({ "@id": ark, name })),
    quads,
    links,
    text: { name, description: "", keywords: "", other: "" },
    keywords: ["k"],
  };
}

/** One client: pairs of records that link to each other, then a change, then sometimes a deletion. */
async function client(number) {
  for (let i = 0; ; i++) {
    const [a, b] = ["a", "b"].map((side) => `ark:99999/r${round}-c${number}-${i}-${side}`);
    const commit = async (...records) => {
      const { sequence } = await store.commit({ by: null, at: Date.now(), records });
      writeSync(
        1,
        `${JSON.stringify({ sequence, records: records.map(({ op, ark, ifRevision = 0 }) => [op, ark, ifRevision + 1]) })}\n`,
      );
    };
    const create = (ark, other) => ({
      op: "create",
      ark,
      key: arkKey(ark),
      ...stateOf(ark, 1, [link(other)]),
    });
    await commit(create(a, b), create(b, a));
    await commit({
      op: "replace",
      ark: a,
      ifRevision: 1,
      changed: ["/name"],
      ...stateOf(a, 2, [link(b)]),
    });
    if (i % 3 === 0) await commit({ op: "delete", ark: b, ifRevision: 1 });
  }
}
await Promise.all(Array.from({ length: 8 }, (_, number) => client(number)));
