import { arkKey, looksLikeArk } from "../../identifiers/ark.js";
import type { JsonObject } from "../../model/field.js";
import { KINDS } from "../../model/kinds/index.js";
import { publicView } from "../../model/view.js";
import { graphOf, graphsOf } from "../../rdf/graph.js";
import type { RecordStore, StoredRecord } from "../../stores/records/port.js";
import { Asking } from "./asking.js";
import { NAME_OF_IRI, statedAs } from "./edge-names.js";
import type { Edge } from "./net.js";
import type { EvidenceDeps } from "./evidence-deps.js";
import type { Statement } from "./types.js";

/** Documents looked into at a time: between two lots others get their turn. */
const LOT = 100;
const STATEMENT = /^<([^>]*)> <([^>]*)> <([^>]*)> <[^>]*> \.$/;

/**
 * Which field of which record states each edge. The records are found in the graph; the fields by normalising
 * each record's document once more, field by field, so that they are told by the very rules that made the edges.
 * @returns in the order of the edges; no statement where a record was withdrawn meanwhile
 */
export async function statementsOf(ask: Asking, edges: readonly Edge[], records: Pick<RecordStore, "findMany">): Promise<Statement[][]> {
  const rows = await ask.each(edges.map(({ subject, name, object }) => [subject, statedAs(name), object]), (values) => `SELECT ?s ?p ?o ?g { VALUES (?s ?p ?o) { ${values} } GRAPH ?g { ?s ?p ?o } }`);
  const by = new Map<string, Set<string>>();
  for (const row of rows) {
    const key = `${row.s!.value} ${row.p!.value} ${row.o!.value}`;
    (by.get(key) ?? by.set(key, new Set()).get(key)!).add(row.g!.value);
  }
  const said = await fieldsOf([...new Set(rows.map((row) => row.g!.value))], records);
  return edges.map(({ subject, name, object }) => [...(by.get(`${subject} ${statedAs(name)} ${object}`) ?? [])].toSorted().flatMap((record): Statement[] => {
    const fields = said.get(record)?.get(`${name} ${comparable(object)}`) ?? [];
    const exact = fields.filter((field) => field.subject === comparable(subject) || field.subject === comparable(record));
    const names = [...new Set((exact.length > 0 ? exact : fields).map(({ field }) => field))];
    return names.length > 0 ? names.map((field) => ({ record, field })) : [{ record, field: null }];
  }));
}

/** The same for edges of an answer. */
export function statementsAsOf(edges: readonly { source: string; name: Edge["name"]; target: string }[], deps: EvidenceDeps): Promise<Statement[][]> {
  return statementsOf(new Asking(deps.queries, deps.timeout === undefined ? {} : { timeout: deps.timeout }), edges.map(({ source, name, target }) => ({ subject: source, name, object: target })), deps.records);
}

interface Said { field: string; subject: string }
type Fields = ReadonlyMap<string, Said[]>;

async function fieldsOf(arks: readonly string[], records: Pick<RecordStore, "findMany">): Promise<Map<string, Fields>> {
  const found = new Map<string, Fields>();
  for (let start = 0; start < arks.length; start += LOT) {
    for (const record of await records.findMany(arks.slice(start, start + LOT))) {
      if (record && !record.tombstone) found.set(record.ark, await saidBy(record));
    }
  }
  return found;
}

/** What each field of a document says, by name of the relation and what it leads to. */
async function saidBy(record: StoredRecord): Promise<Fields> {
  const { "@context": context, "@type": type, ...body } = publicView(KINDS[record.kind], JSON.parse(Buffer.from(record.document).toString()) as JsonObject);
  const fields = Object.entries(body).filter(([name, value]) => (name === "@reverse" || !name.startsWith("@")) && value !== null && ["string", "object"].includes(typeof value));
  const fromCrate = record.crate !== null || KINDS[record.kind].loose === true;
  const inputs = fields.map(([name, value]) => ({ ark: record.ark, kind: record.kind, fromCrate, document: { ...(type === undefined ? {} : { "@type": type }), [name]: value } as JsonObject }));
  // What a crate brings shares its context; what the API took is mostly plain and needs no JSON-LD processor.
  const graphs = fromCrate ? await graphsOf(context, inputs) : await Promise.all(inputs.map((input) => graphOf({ ...input, document: { ...(context === undefined ? {} : { "@context": context }), ...input.document } })));
  const said = new Map<string, Said[]>();
  for (const [index, { quads }] of graphs.entries()) {
    const field = fields[index]![0];
    for (const line of quads.split("\n")) {
      const [, subject, property, object] = STATEMENT.exec(line) ?? [];
      const name = property === undefined || line.includes("#inferred> .") ? undefined : NAME_OF_IRI.get(property);
      if (!name) continue;
      const key = `${name} ${comparable(object!)}`;
      (said.get(key) ?? said.set(key, []).get(key)!).push({ field, subject: comparable(subject!) });
    }
  }
  return said;
}

/** Spellings that a record is known by are one; objects inside records are numbered anew field by field. */
function comparable(iri: string): string {
  const bare = iri.replace(/#genid-\d+$/, "#genid");
  return looksLikeArk(bare) ? arkKey(bare) : bare;
}
