import type { ContainerRun } from "../../adapters/containers/port.js";
import type { Config } from "../../config/config.js";
import { ServiceError } from "../../errors.js";
import { mintArk } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { Finding } from "../../model/findings.js";
import { withDefaults } from "../../model/json-schema.js";
import { KINDS } from "../../model/kinds.js";
import type { ObjectStore, StagedObject } from "../../storage/objects/port.js";
import type { ObjectReference, RecordWrite, StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { contentReference, mediaTypeOf, withFacts } from "../records/stored-content.js";
import { claimedState, creationOf } from "../records/state.js";
import { changedPointers } from "../records/state.js";
import { withoutLines } from "../records/reserved.js";
import { parseDocument } from "../records/view.js";
import { quoted, RunError, runFinding } from "./findings.js";

/** Facts about a run that succeeded. */
export interface RunFacts {
  containerId: string;
  /** The name in an image registry, else the engine's id of the image. */ image: string;
  /** RFC 3339, UTC. */ began: string;
  ended: string;
}

interface Results {
  writes: Extract<RecordWrite, { op: "create" }>[];
  dataset: string;
  /** The dataset, then its files. */ generated: string[];
}

/** Longest name of a record, in characters. */
const MAX_NAME_CHARS = 200;
const shortened = (text: string): string => [...text].slice(0, MAX_NAME_CHARS).join("");

/**
 * The records of a run's results: a dataset, and a file record for each file; the computation's
 * owner owns them.
 */
export async function resultRecords(
  deps: Pick<Deps, "config" | "baseUrl" | "documents">,
  computation: StoredRecord,
  owner: string,
  outputs: readonly RunOutput[],
  { ended }: RunFacts,
): Promise<Results> {
  const mint = (kind: "dataset" | "datadownload", name: string): string =>
    mintArk(deps.config.ARK_NAAN, kind, name).stored;
  const title = shortened(`Results of ${computation.name ?? computation.ark}`);
  const dataset = mint("dataset", title);
  const files = outputs.map((output) => ({
    ...output,
    ark: mint("datadownload", output.path),
    type: mediaTypeOf(output.path),
  }));
  const writes = [
    await created(deps, "dataset", dataset, {
      "@type": "evi:Dataset",
      name: title,
      description: `The output files of a run of ${computation.ark}.`,
      owner,
      distribution: files.map(({ ark }) => ark),
      dateCreated: ended,
      generatedBy: computation.ark,
    }),
  ];
  for (const { path, object, ark, type } of files) {
    const claimed = {
      "@type": "evi:DataDownload",
      name: shortened(path),
      description: `An output file of a run of ${computation.ark}.`,
      owner,
      encodingFormat: type,
      contentSize: null,
      contentUrl: null,
      sha256: null,
      encodesCreativeWork: dataset,
      generatedBy: computation.ark,
    };
    writes.push(
      await created(
        deps,
        "datadownload",
        ark,
        withFacts(claimed, ark, deps.baseUrl(), object, ended),
        [
          contentReference(claimed, {
            object,
            name: path.slice(path.lastIndexOf("/") + 1),
            mediaType: type,
          }),
        ],
      ),
    );
  }
  // The results of a private run are private too.
  for (const write of writes) write.private = computation.private;
  return { writes, dataset, generated: [dataset, ...files.map(({ ark }) => ark)] };
}

async function created(
  deps: Pick<Deps, "documents">,
  kind: "dataset" | "datadownload",
  ark: string,
  claimed: JsonObject,
  objects?: ObjectReference[],
): Promise<Results["writes"][number]> {
  const write = await creationOf(deps, KINDS[kind], ark, withDefaults(KINDS[kind], claimed, ark));
  return objects ? { ...write, objects } : write;
}

/**
 * The computation's next revision: when it ran, in which container of which image, and what it
 * generated, after the results of earlier runs.
 */
export async function runRevision(
  deps: Pick<Deps, "documents">,
  record: StoredRecord,
  generated: readonly string[],
  { containerId, image, began, ended }: RunFacts,
): Promise<RecordWrite> {
  const before = parseDocument(record.document);
  const fromCrate = record.crate !== null;
  const listed = before["generated"];
  const known: JsonValue[] =
    listed === undefined || listed === null ? [] : Array.isArray(listed) ? listed : [listed];
  const document: JsonObject = {
    ...before,
    dateCreated: began,
    dateFinished: ended,
    containerId,
    containerDigest: image,
    // Entities of a crate refer to each other as JSON-LD does.
    generated: [...known, ...generated.map((ark) => (fromCrate ? { "@id": ark } : ark))],
  };
  const { state: stated, reserved } = await claimedState(
    deps,
    KINDS.computation,
    record.ark,
    document,
    { fromCrate },
  );
  // A crate's statements about an earlier run do not apply to this one.
  const others = reserved.filter((line) => !line.includes(` ${JSON.stringify(image)} `));
  const state = { ...stated, quads: withoutLines(stated.quads, others) };
  return {
    op: "replace",
    ark: record.ark,
    ifRevision: record.revision,
    changed: changedPointers(before, document),
    ...state,
    owner: state.owner ?? record.owner,
  };
}

/** A file that a run created; it is stored and belongs to no record yet. */
export interface RunOutput {
  path: string;
  object: StagedObject;
}

/** Warnings of one kind; more would hide the others. */
const MAX_WARNINGS = 100;
/**
 * Characters that neither a store nor a terminal accepts in a name; marks for text direction
 * disguise the name.
 */
const UNFIT = /[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]/u;

type Limits = Pick<Config, "EXECUTION_OUTPUT_FILES" | "EXECUTION_OUTPUT_BYTES">;

/**
 * Receives the files that a run left in `/outputs`: plain files only. The contents are untrusted,
 * and nothing is published: the caller publishes or discards what is handed to `take`, also when
 * this throws.
 * @throws RunError `NO_OUTPUTS`, `TOO_MANY_OUTPUTS`, `OUTPUTS_TOO_LARGE`
 */
export async function receiveOutputs(
  run: ContainerRun,
  objects: ObjectStore,
  limits: Limits,
  signal: AbortSignal,
  take: (output: RunOutput, bytes: number) => void,
): Promise<Finding[]> {
  const { EXECUTION_OUTPUT_FILES: most, EXECUTION_OUTPUT_BYTES: space } = limits;
  const warnings: Finding[] = [];
  const seen = new Set<string>();
  let bytes = 0;
  let refused = 0;
  const pass = (what: string) => {
    if (++refused <= MAX_WARNINGS)
      warnings.push(runFinding("OUTPUT_NOT_TAKEN", `${what}: it is not part of the results.`));
  };
  for await (const entry of run.outputs()) {
    signal.throwIfAborted();
    if (entry.type === "folder") continue;
    const { path } = entry;
    if (path === null || path === "" || UNFIT.test(path))
      pass("A name in /outputs is not valid text");
    else if (entry.type === "link") pass(`${quoted(path)} is a link; write the file itself`);
    else if (entry.type === "other") pass(`${quoted(path)} is not a regular file`);
    else if (path.split("/").includes("..") || seen.has(path))
      pass(`${quoted(path)} is not a path of a file in /outputs`);
    else {
      if (seen.size === most)
        throw new RunError(
          "TOO_MANY_OUTPUTS",
          `The run wrote more than EXECUTION_OUTPUT_FILES=${most} files to /outputs: ` +
            "pack them into one, or ask the operator to raise the setting.",
        );
      if (bytes + entry.size > space) throw outputsTooLarge(limits);
      seen.add(path);
      const object = await objects
        .stage(entry.content(), {
          limit: space - bytes,
          limitName: "EXECUTION_OUTPUT_BYTES",
          signal,
        })
        .catch((error: unknown) => {
          throw error instanceof ServiceError && error.code === "TOO_LARGE"
            ? outputsTooLarge(limits)
            : error;
        });
      bytes += object.size;
      take({ path, object }, bytes);
    }
  }
  if (refused > MAX_WARNINGS)
    warnings.push(
      runFinding(
        "OUTPUT_NOT_TAKEN",
        `${refused - MAX_WARNINGS} more entries of /outputs are not part of the results.`,
      ),
    );
  if (seen.size === 0)
    throw new RunError(
      "NO_OUTPUTS",
      "The command ended with status 0 and wrote no file to /outputs, which is its " +
        "working folder: write the results there.",
    );
  return warnings;
}

export const outputsTooLarge = ({ EXECUTION_OUTPUT_BYTES: space }: Limits): RunError =>
  new RunError(
    "OUTPUTS_TOO_LARGE",
    `The run wrote more than EXECUTION_OUTPUT_BYTES=${space} bytes to /outputs: write ` +
      "less, or ask the operator to raise the setting.",
  );
