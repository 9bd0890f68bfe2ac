import { arkKey, looksLikeArk } from "../../identifiers/ark.js";
import type { JsonObject } from "../../model/field.js";
import { KINDS } from "../../model/kinds/index.js";
import { publicView } from "../../model/view.js";
import { graphOf, graphsOf } from "../../rdf/graph.js";
import type { RecordStore, StoredRecord } from "../../stores/records/port.js";
import { NAME_OF_IRI } from "./edge-names.js";
import type { Edge } from "./net.js";

/** Documents looked into at a time: between two lots others get their turn. */
const LOT = 100;
const STATEMENT = /^<([^>]*)> <([^>]*)> <([^>]*)> <[^>]*> \.$/;

/**
 * Which fields of the record that states an edge say so: found by normalising its document once more, field by field, so
 * that they are told by the very rules that made the edges.
 * @returns in the order of the edges; null where the document says it no longer in so many words
 */
export async function fieldsOf(edges: readonly Edge[], records: Pick<RecordStore, "findMany">): Promise<(string | null)[][]> {
  const said = await saidBy([...new Set(edges.map(({ graph }) => graph))], records);
  return edges.map(({ subject, name, object, graph }) => {
    const fields = said.get(graph)?.get(`${name} ${comparable(object)}`) ?? [];
    const exact = fields.filter((field) => field.subject === comparable(subject) || field.subject === comparable(graph));
    const names = [...new Set((exact.length > 0 ? exact : fields).map(({ field }) => field))];
    return names.length > 0 ? names : [null];
  });
}

interface FieldSaid { field: string; subject: string }
type Fields = ReadonlyMap<string, FieldSaid[]>;

async function saidBy(arks: readonly string[], records: Pick<RecordStore, "findMany">): Promise<Map<string, Fields>> {
  const found = new Map<string, Fields>();
  for (let start = 0; start < arks.length; start += LOT) {
    for (const record of await records.findMany(arks.slice(start, start + LOT))) {
      if (record && !record.tombstone) found.set(record.ark, await fieldsSaidBy(record));
    }
  }
  return found;
}

/** What each field of a document says, by name of the relation and what it leads to. */
async function fieldsSaidBy(record: StoredRecord): Promise<Fields> {
  const { "@context": context, "@type": type, ...body } = publicView(KINDS[record.kind], JSON.parse(Buffer.from(record.document).toString()) as JsonObject);
  const fields = Object.entries(body).filter(([name, value]) => (name === "@reverse" || !name.startsWith("@")) && value !== null && ["string", "object"].includes(typeof value));
  const fromCrate = record.crate !== null || KINDS[record.kind].loose === true;
  const inputs = fields.map(([name, value]) => ({ ark: record.ark, kind: record.kind, fromCrate, document: { ...(type === undefined ? {} : { "@type": type }), [name]: value } as JsonObject }));
  // What a crate brings shares its context; what the API took is mostly plain and needs no JSON-LD processor.
  const graphs = fromCrate ? await graphsOf(context, inputs) : await Promise.all(inputs.map((input) => graphOf({ ...input, document: { ...(context === undefined ? {} : { "@context": context }), ...input.document } })));
  const said = new Map<string, FieldSaid[]>();
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

/** The same for edges of an answer, by the record that states each. */
export const fieldsStated = (edges: readonly { source: string; name: Edge["name"]; target: string; record: string }[], records: Pick<RecordStore, "findMany">): Promise<(string | null)[][]> =>
  fieldsOf(edges.map(({ source, name, target, record }) => ({ subject: source, name, object: target, graph: record })), records);
