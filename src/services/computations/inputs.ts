import type { InputPlace } from "../../adapters/containers/port.js";
import type { TarFile } from "../../adapters/containers/port.js";
import { arkKey } from "../../identifiers/ark.js";
import type { Finding } from "../../model/findings.js";
import { PROVENANCE } from "../../model/provenance.js";
import type { ObjectReference, StoredRecord } from "../../storage/records/port.js";
import { assertMayReadArchive, assertMayReadContent, type Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { RunError, runFinding } from "./findings.js";

/**
 * Longest file name and longest path that common file systems accept (bytes of UTF-8), less a
 * reserve for a number.
 */
const MAX_NAME_BYTES = 240;
const MAX_PATH_BYTES = 3000;

/** Paths below one folder; each is assigned once. */
export class FileNames {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();

  /**
   * The same path, or a similar path that is free and safe: it does not leave the folder, and has
   * no characters that control a terminal.
   */
  claim(wanted: string): string {
    const parts = wanted
      .split("/")
      .map(safeName)
      .filter((part) => part !== "");
    const name = parts.pop() ?? "file";
    const path = Buffer.byteLength([...parts, name].join("/")) > MAX_PATH_BYTES ? [] : parts;
    const dot = name.lastIndexOf(".");
    const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
    // A folder cannot have the name of a file: such a path is reduced to its file name.
    const folder = path.some((_, depth) => this.#files.has(path.slice(0, depth + 1).join("/")))
      ? []
      : path;
    for (let number = 1; ; number++) {
      const free = [...folder, number === 1 ? name : `${stem}-${number}${extension}`].join("/");
      if (this.#files.has(free) || this.#folders.has(free)) continue;
      this.#files.add(free);
      for (let depth = 1; depth <= folder.length; depth++)
        this.#folders.add(folder.slice(0, depth).join("/"));
      return free;
    }
  }
}

function safeName(part: string): string {
  const name = part
    .toWellFormed()
    .replace(/[\p{Cc}\\]/gu, "_")
    .trim();
  if (name === "." || name === "..") return "";
  let short = name;
  while (Buffer.byteLength(short) > MAX_NAME_BYTES) short = [...short].slice(0, -1).join("");
  return short;
}

type InputDeps = Pick<Deps, "config" | "records" | "objects">;

/** A stored file that is an input of a run. */
export interface RunInput {
  place: InputPlace;
  /** Relative to the folder where it is mounted. */ path: string;
  ark: string;
  object: ObjectReference;
}
interface RunInputs {
  files: RunInput[];
  warnings: Finding[];
}

/** Lists the inputs of a run and their roles. */
const LIST = ".arkgraph.json";
const USED = Object.entries(PROVENANCE).flatMap(([name, { evi }]) =>
  name.startsWith("used") && name !== "usedBy" ? [evi] : [],
);
/** Properties that name the records of a dataset's contents. */
const PARTS = ["schema:distribution", "schema:hasPart"];
/** Deepest nesting of datasets in each other. */
const DEEPEST = 50;

/** The records that a computation states as used, in the stated order. */
export async function usedBy(
  { records, config }: InputDeps,
  { ark }: StoredRecord,
): Promise<{ target: string; place: InputPlace }[]> {
  const [page] = await records.linksFrom([ark], {
    predicates: USED,
    limit: config.EXECUTION_INPUT_FILES,
  });
  const used = page?.items ?? [];
  const software = new Set(
    used
      .filter(({ predicate }) => predicate === PROVENANCE.usedSoftware.evi)
      .map(({ targetKey }) => targetKey),
  );
  const found = new Map<string, { target: string; place: InputPlace }>();
  for (const { target, targetKey } of used)
    if (!found.has(targetKey))
      found.set(targetKey, { target, place: software.has(targetKey) ? "software" : "inputs" });
  return [...found.values()];
}

/**
 * The stored content of a computation's inputs: of the records themselves, of the files that their
 * distribution and parts name, and of files of the same owner that state to be part of them. The
 * content of a crate is its archive.
 * @throws RunError `INPUTS_TOO_LARGE`; ServiceError `FORBIDDEN` when the caller may not read one of
 * them
 */
export async function gatherInputs(
  deps: InputDeps,
  computation: StoredRecord,
  caller: Caller,
): Promise<RunInputs> {
  const { records, config } = deps;
  const warnings: Finding[] = [];
  const names = { inputs: new FileNames(), software: new FileNames() };
  for (const name of Object.values(names)) name.claim(LIST);
  const files: RunInput[] = [];
  let bytes = 0;
  for (const { target, place } of await usedBy(deps, computation)) {
    const before = files.length;
    for await (const { record, object } of contentBelow(deps, target)) {
      await (object.role === "archive" ? assertMayReadArchive : assertMayReadContent)(
        records,
        caller,
        record,
      );
      if (files.length === config.EXECUTION_INPUT_FILES)
        throw tooLarge(`more than EXECUTION_INPUT_FILES=${config.EXECUTION_INPUT_FILES} files`);
      if ((bytes += object.size) > config.EXECUTION_INPUT_BYTES)
        throw tooLarge(`more than EXECUTION_INPUT_BYTES=${config.EXECUTION_INPUT_BYTES} bytes`);
      files.push({
        place,
        path: names[place].claim(pathOf(record, object)),
        ark: record.ark,
        object,
      });
    }
    if (files.length === before)
      warnings.push(
        runFinding(
          "INPUT_NOT_STORED",
          `No content of ${target.slice(0, 200)} is stored here: the run continues without it.`,
        ),
      );
  }
  return { files, warnings };
}

const tooLarge = (what: string): RunError =>
  new RunError(
    "INPUTS_TOO_LARGE",
    `The inputs of the computation are ${what}: use fewer or smaller inputs, or ask the ` +
      "operator to raise the setting.",
  );

async function* contentBelow(
  { records, config }: InputDeps,
  target: string,
): AsyncGenerator<{ record: StoredRecord; object: ObjectReference }> {
  const seen = new Set<string>();
  let level = [target];
  for (let depth = 0; level.length > 0 && depth < DEEPEST; depth++) {
    const found = (await records.findMany(level)).filter(
      (record): record is StoredRecord =>
        record !== undefined && record.tombstone === null && !seen.has(record.ark),
    );
    const inner: StoredRecord[] = [];
    for (const record of found) {
      if (seen.has(record.ark)) continue;
      seen.add(record.ark);
      const [object] = await records.objectsOf(record.ark, {
        role: record.kind === "rocrate" ? "archive" : "content",
      });
      if (object) yield { record, object };
      if (record.kind !== "rocrate") inner.push(record);
    }
    const limit = config.EXECUTION_INPUT_FILES + 1;
    const stated =
      inner.length === 0
        ? []
        : await records.linksFrom(
            inner.map(({ ark }) => ark),
            { predicates: PARTS, distinct: true, limit },
          );
    const holding =
      inner.length === 0
        ? []
        : await records.linksTo(
            inner.map(({ key }) => key),
            {
              predicates: ["schema:encodesCreativeWork"],
              kinds: ["datadownload"],
              distinct: true,
              limit,
            },
          );
    const claimed = await records.findMany(
      holding.flatMap(({ items }) => items.map(({ source }) => source)),
    );
    const owners = new Map(inner.map(({ key, owner }) => [key, owner]));
    const theirs = holding
      .flatMap(({ items }) => items)
      .filter(({ targetKey }, index) => {
        // Anybody may state that a file holds this data; only statements of the data's owner count.
        const [owner, other] = [owners.get(targetKey), claimed[index]?.owner];
        return owner != null && other != null && arkKey(owner) === arkKey(other);
      });
    level = [
      ...new Set([
        ...stated.flatMap(({ items }) => items.map((link) => link.target)),
        ...theirs.map(({ source }) => source),
      ]),
    ];
  }
}

/** A file of a crate has its path in the crate; any other file has its name. */
function pathOf({ ark, crate }: StoredRecord, { name, role }: ObjectReference): string {
  const within =
    role === "content" && crate !== null && ark.startsWith(`${crate}/`)
      ? decoded(ark.slice(crate.length + 1))
      : "";
  return within.endsWith(`/${name}`) && !within.startsWith("entity/")
    ? within
    : name.slice(name.lastIndexOf("/") + 1);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The files of a folder as the engine gets them, preceded by a list of them. */
export async function* filesFor(
  place: InputPlace,
  files: readonly RunInput[],
  { objects }: InputDeps,
  reported: (bytes: number) => void,
): AsyncGenerator<TarFile> {
  const here = files.filter((file) => file.place === place);
  const list = Buffer.from(
    `${JSON.stringify(
      here.map(({ path, ark, object: { sha256, size, mediaType } }) => ({
        path,
        "@id": ark,
        sha256,
        contentSize: String(size),
        encodingFormat: mediaType,
      })),
      null,
      2,
    )}\n`,
  );
  yield {
    path: LIST,
    size: list.byteLength,
    open: async () =>
      (async function* () {
        yield list;
      })(),
  };
  for (const {
    path,
    object: { sha256, size },
  } of here) {
    yield {
      path,
      size,
      open: async () =>
        counted(size === 0 ? [] : await objects.open(sha256, undefined, { size }), reported),
    };
  }
}

async function* counted(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  reported: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    reported(chunk.byteLength);
    yield chunk;
  }
}
