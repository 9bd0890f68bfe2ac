import { arkKey } from "../../identifiers/ark.js";
import { mintArk } from "../../identifiers/mint.js";
import { withDefaults } from "../../model/defaults.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { KINDS } from "../../model/kinds/index.js";
import type { ObjectReference } from "../../stores/records/objects-port.js";
import type { RecordWrite, StoredRecord } from "../../stores/records/port.js";
import type { Deps } from "../deps.js";
import { contentReference, withFacts } from "../files/facts.js";
import { mediaTypeOf } from "../crates/files/media-type.js";
import { changedPointers } from "../records/changed.js";
import { withoutLines } from "../records/reserved.js";
import { claimedState, stateOf } from "../records/state.js";
import { parseDocument } from "../records/view.js";
import type { RunOutput } from "./outputs.js";

/** What is known of a run that ended well. */
export interface RunFacts { containerId: string; /** As a registry of images names it, else the engine's name of these bytes. */ image: string; /** RFC 3339, UTC. */ began: string; ended: string }

export interface Results { writes: Extract<RecordWrite, { op: "create" }>[]; dataset: string; /** The dataset, then its files. */ generated: string[] }

/** Longest name of a record, in characters. */
const LONGEST_NAME = 200;
const shortened = (text: string): string => [...text].slice(0, LONGEST_NAME).join("");

/** The records of what a run left: a dataset, and a file record for each file, which belong to the computation's owner. */
export async function resultRecords(deps: Pick<Deps, "config" | "baseUrl" | "documents">, computation: StoredRecord, owner: string, outputs: readonly RunOutput[], { ended }: RunFacts): Promise<Results> {
  const mint = (kind: "dataset" | "datadownload", name: string): string => mintArk(deps.config.ARK_NAAN, kind, name);
  const title = shortened(`Results of ${computation.name ?? computation.ark}`);
  const dataset = mint("dataset", title);
  const files = outputs.map((output) => ({ ...output, ark: mint("datadownload", output.path), type: mediaTypeOf(output.path) }));
  const writes = [await created(deps, "dataset", dataset, {
    "@type": "evi:Dataset", name: title, description: `What a run of ${computation.ark} left.`, owner,
    distribution: files.map(({ ark }) => ark), dateCreated: ended, generatedBy: computation.ark,
  })];
  for (const { path, object, ark, type } of files) {
    const said = {
      "@type": "evi:DataDownload", name: shortened(path), description: `A file that a run of ${computation.ark} left.`, owner,
      encodingFormat: type, contentSize: null, contentUrl: null, sha256: null, encodesCreativeWork: dataset, generatedBy: computation.ark,
    };
    writes.push(await created(deps, "datadownload", ark, withFacts(said, ark, deps.baseUrl(), object, ended), [contentReference(said, { object, name: path.slice(path.lastIndexOf("/") + 1), mediaType: type })]));
  }
  return { writes, dataset, generated: [dataset, ...files.map(({ ark }) => ark)] };
}

async function created(deps: Pick<Deps, "documents">, kind: "dataset" | "datadownload", ark: string, said: JsonObject, objects?: ObjectReference[]): Promise<Results["writes"][number]> {
  const state = await stateOf(deps, KINDS[kind], ark, withDefaults(KINDS[kind], said, ark));
  return { op: "create", ark, key: arkKey(ark), ...state, ...(objects ? { objects } : {}) };
}

/** The computation's next revision: when it ran, in which container of which image, and what it generated, after what it generated before. */
export async function runRevision(deps: Pick<Deps, "documents">, record: StoredRecord, generated: readonly string[], { containerId, image, began, ended }: RunFacts): Promise<RecordWrite> {
  const before = parseDocument(record.document);
  const fromCrate = record.crate !== null;
  const listed = before["generated"];
  const known: JsonValue[] = listed === undefined || listed === null ? [] : Array.isArray(listed) ? listed : [listed];
  const document: JsonObject = {
    ...before, dateCreated: began, dateFinished: ended, containerId, containerDigest: image,
    // Entities of a crate refer to each other as JSON-LD does.
    generated: [...known, ...generated.map((ark) => (fromCrate ? { "@id": ark } : ark))],
  };
  const { state: stated, reserved } = await claimedState(deps, KINDS.computation, record.ark, document, fromCrate);
  // What a crate said of an earlier run is no fact of this one.
  const others = reserved.filter((line) => !line.includes(` ${JSON.stringify(image)} `));
  const state = { ...stated, quads: withoutLines(stated.quads, others) };
  return { op: "replace", ark: record.ark, ifRevision: record.revision, changed: changedPointers(before, document), ...state, owner: state.owner ?? record.owner };
}
