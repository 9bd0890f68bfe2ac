/**
 * `upload` and `status`: sends crates, files of metadata and events of OpenLineage, and follows
 * submissions.
 */
import { createReadStream } from "node:fs";
import { open, readFile, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { type Readable, Transform } from "node:stream";
import { lookupArk } from "../../../src/identifiers/ark.js";
import {
  allWarnings,
  ConnectionError,
  failureOf,
  fileForm,
  findingLine,
  followSubmission,
  groupedFindings,
  openRegistry,
  Refusal,
  type Registry,
  readStatus,
  resumeHint,
  type ServerOption,
  type Submission,
} from "../../registry.js";
import {
  Failure,
  humanSize,
  Interruptible,
  note,
  terminalProgress,
  textTable,
  visible,
} from "../../terminal.js";

import type { FolderOptions } from "./describe-folder.js";

/** Bytes and events of one request; the registry's own limits may be lower. */
const [MAX_BYTES, MAX_EVENTS] = [2 ** 20, 200];

interface Receipt {
  events: number;
  records: { "@id": string; kind: string; change: string }[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isEvent = (value: unknown): boolean =>
  isObject(value) &&
  "eventTime" in value &&
  ["run", "job", "dataset"].some((member) => isObject(value[member]));

/**
 * The events of an OpenLineage file: one event, a list of them, or one event on each line;
 * undefined for a file of something else.
 */
function lineageEvents(text: string, file: string): unknown[] | undefined {
  const whole = parsed(text);
  if (whole !== undefined) {
    const events = Array.isArray(whole) ? whole : [whole];
    return events.length > 0 && events.every(isEvent) ? events : undefined;
  }
  const lines = text.split("\n");
  const [first = text] = lines;
  if (!isEvent(parsed(first))) return undefined;
  return lines.flatMap((line, at) => {
    if (line.trim() === "") return [];
    const event = parsed(line);
    if (!isEvent(event))
      throw new Failure(`line ${at + 1} of ${file} is no event of OpenLineage; correct it`);
    return [event];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Sends the events in the order of the file; prints the identifiers of the runs. @throws Failure */
async function sendLineage(
  registry: Registry,
  events: readonly unknown[],
  { json }: { json: boolean },
): Promise<void> {
  const records = new Map<string, Receipt["records"][number]>();
  for (const batch of batches(events))
    for (const { records: told } of await sent(registry, batch))
      for (const record of told) {
        const known = records.get(record["@id"]);
        if (known === undefined || record.change === "created") records.set(record["@id"], record);
        else if (known.change === "unchanged") known.change = record.change;
      }
  const all = [...records.values()];
  if (json) {
    process.stdout.write(`${JSON.stringify({ events: events.length, records: all }, null, 2)}\n`);
    return;
  }
  const count = (change: string): number => all.filter((one) => one.change === change).length;
  note(
    `${events.length} events: ${count("created")} records created, ${count("changed")} changed, ` +
      `${count("unchanged") + count("linked")} left as they are`,
  );
  for (const { "@id": id, kind } of all)
    if (kind === "Computation") process.stdout.write(`${id}\n`);
}

function* batches(events: readonly unknown[]): Generator<unknown[]> {
  let batch: unknown[] = [];
  let bytes = 0;
  for (const event of events) {
    const size = Buffer.byteLength(JSON.stringify(event));
    if (batch.length > 0 && (batch.length === MAX_EVENTS || bytes + size > MAX_BYTES)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(event);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** On 413 the batch is split in half and sent again: a registry may accept fewer. */
async function sent(registry: Registry, batch: readonly unknown[]): Promise<Receipt[]> {
  try {
    return [
      await registry.json<Receipt>("/api/v1/lineage", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(batch),
      }),
    ];
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 413 || batch.length === 1) throw error;
    const half = batch.length >> 1;
    return [
      ...(await sent(registry, batch.slice(0, half))),
      ...(await sent(registry, batch.slice(half))),
    ];
  }
}

/** Waits for the end of a submission, with a progress bar on a terminal. */
async function follow(
  registry: Registry,
  id: string,
  interruptible: Interruptible,
): Promise<Submission> {
  interruptible.hint = `stopped waiting; the registry continues with the upload: ${resumeHint(id)}`;
  const progress = await terminalProgress("Processing");
  try {
    return await followSubmission(
      registry,
      id,
      (state) => {
        if ("unavailable" in state)
          return progress.update(0, null, `${state.unavailable}; trying again`);
        const { done, total, unit } = state.progress ?? { done: 0, total: null, unit: "" };
        progress.update(
          done,
          total,
          `${state.stage ?? state.status}${total === null ? "" : ` ${done} of ${total} ${unit}`}`,
        );
      },
      interruptible.signal,
    );
  } finally {
    progress.stop();
  }
}

export interface UploadOptions extends ServerOption, FolderOptions {
  wait: boolean;
  update?: true | string;
  emptyLinked?: true;
  private?: true;
  json?: true;
}

/** `upload`: sends a crate and waits until it is ingested. @throws Failure */
export async function uploadCommand(
  path: string,
  { server, wait, update, emptyLinked, private: isPrivate, json, ...description }: UploadOptions,
): Promise<void> {
  if (emptyLinked && update === undefined)
    throw new Failure("--empty-linked is for updates: add --update, or leave it out");
  if (typeof update === "string" && lookupArk(update) === undefined)
    throw new Failure(
      `--update ${update}: not an ARK; give the identifier of the crate to update, such as ` +
        "ark:99999/rocrate-cells",
    );
  const interruptible = new Interruptible(
    "stopped before the upload was complete: nothing was ingested; run the same command again",
  );
  await interruptible.run(async () => {
    const registry = await openRegistry(server === undefined ? {} : { server }, {
      token: true,
      signal: interruptible.signal,
    });
    const events = await openEvents(path);
    if (events) {
      if (isPrivate)
        throw new Failure(
          "--private is for crates: DEFAULT_VISIBILITY of the registry decides about events",
        );
      if (update !== undefined)
        throw new Failure("--update is for crates: leave it out, events may always come again");
      interruptible.hint = "stopped: run the same command again, events may come twice";
      return sendLineage(registry, events, { json: json === true });
    }
    const crate = await openCrate(path, description);
    let submission = await send(registry, crate, queryOf(update, { emptyLinked, isPrivate }));
    if (wait && !submission.completed)
      submission = await follow(registry, submission.submissionUUID, interruptible);
    report(submission, { wait, json: json === true });
  });
}

function queryOf(
  update: true | string | undefined,
  { emptyLinked, isPrivate }: { emptyLinked: true | undefined; isPrivate: true | undefined },
): string {
  const query = new URLSearchParams();
  if (isPrivate) query.set("visibility", "private");
  if (update !== undefined) query.set("update", "true");
  if (typeof update === "string") query.set("crate", update);
  if (emptyLinked) query.set("emptyLinked", "true");
  return query.size === 0 ? "" : `?${query.toString()}`;
}

async function send(registry: Registry, crate: CrateSource, query: string): Promise<Submission> {
  const progress = await terminalProgress("Sending");
  const total = humanSize(crate.total);
  try {
    const stream = crate.stream((bytes) =>
      progress.update(bytes, crate.total, `${humanSize(bytes)} of ${total}`),
    );
    return await registry.json<Submission>(
      `/rocrate/upload-async${query}`,
      fileForm({ name: crate.name, size: crate.size, type: crate.type, stream }),
    );
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    throw new Failure(
      `${error.message}; run the same command again: the same archive is ingested only once`,
      { cause: error },
    );
  } finally {
    progress.stop();
  }
}

/**
 * Only the identifier of the crate goes to standard output, so that a script can use it; all other
 * lines go to standard error.
 */
function report(submission: Submission, { wait, json }: { wait: boolean; json: boolean }): void {
  if (json) process.stdout.write(`${JSON.stringify(submission, null, 2)}\n`);
  if (submission.status === "failed") {
    if (!json) throw failureOf(submission);
    process.exitCode = 1;
    return;
  }
  if (json) return;
  if (!submission.completed && !wait) {
    process.stdout.write(`${submission.submissionUUID}\n`);
    note(resumeHint(submission.submissionUUID));
    return;
  }
  const warnings = groupedFindings(submission.warnings);
  for (const warning of warnings) note(`warning: ${warning}`);
  if (warnings.length < submission.warnings.length) note(allWarnings(submission));
  process.stdout.write(`${submission.rocrateIdentifier}\n`);
}

export interface StatusOptions extends ServerOption {
  wait?: true;
  json?: true;
  limit: number;
}

/**
 * `status`: one upload, or the latest ones. Status 1 if the requested upload has failed.
 * @throws Failure
 */
export async function statusCommand(
  id: string | undefined,
  { server, wait, json, limit }: StatusOptions,
): Promise<void> {
  const interruptible = new Interruptible("stopped");
  await interruptible.run(async () => {
    const registry = await openRegistry(server === undefined ? {} : { server }, {
      token: true,
      signal: interruptible.signal,
    });
    if (id === undefined) return listUploads(registry, json === true, limit);
    let submission = await readStatus(registry, id);
    if (wait === true && !submission.completed)
      submission = await follow(registry, id, interruptible);
    if (submission.status === "failed") process.exitCode = 1;
    process.stdout.write(
      json === true ? `${JSON.stringify(submission, null, 2)}\n` : describe(submission),
    );
  });
}

interface ListedSubmission extends Pick<Submission, "timeStarted" | "identifiersMinted"> {
  id: string;
  status: string;
  task: string;
  record: { id: string } | null;
}

async function listUploads(registry: Registry, json: boolean, limit: number): Promise<void> {
  const { submissions } = await registry.graphql<{ submissions: { nodes: ListedSubmission[] } }>(
    `query ($first: Int!) { submissions(first: $first) { nodes {
      id status timeStarted task record { id } identifiersMinted } } }`,
    { first: limit },
  );
  // By the names of REST, over which one upload is read.
  const nodes = submissions.nodes.map(
    ({ id, status, timeStarted, task, record, identifiersMinted }) => ({
      submissionUUID: id,
      status: status.toLowerCase(),
      timeStarted,
      rocrateIdentifier: (task === "CRATE" && record?.id) || null,
      identifiersMinted,
    }),
  );
  if (json) return void process.stdout.write(`${JSON.stringify(nodes, null, 2)}\n`);
  if (nodes.length === 0) return void process.stdout.write("No uploads yet\n");
  process.stdout.write(
    textTable(
      ["upload", "status", "begun", "crate"],
      nodes.map(({ submissionUUID, status, timeStarted, rocrateIdentifier }) => [
        submissionUUID,
        status,
        timeStarted ?? "-",
        visible(rocrateIdentifier ?? "-"),
      ]),
    ),
  );
}

function describe(submission: Submission): string {
  const {
    submissionUUID,
    status,
    stage,
    progress,
    timeStarted,
    timeFinished,
    rocrateIdentifier,
    identifiersMinted,
    error,
    warnings,
  } = submission;
  const rows: [string, string | null][] = [
    ["upload", submissionUUID],
    ["status", status],
    [
      "stage",
      submission.completed || stage === null
        ? null
        : `${stage}${progress?.total == null ? "" : ` ${progress.done} of ${progress.total} ${progress.unit}`}`,
    ],
    ["begun", timeStarted],
    ["ended", timeFinished],
    ["crate", rocrateIdentifier],
    ["identifiers", submission.success ? String(identifiersMinted) : null],
    ...(error ?? []).map((finding): [string, string] => ["error", findingLine(finding)]),
    ...groupedFindings(warnings).map((line): [string, string] => ["warning", line]),
  ];
  return rows
    .flatMap(([label, value]) =>
      value === null ? [] : [`${label.padEnd(11)}  ${visible(value)}\n`],
    )
    .join("");
}

/** A crate to upload. */
interface CrateSource {
  /** The name of the archive, or of the document. */
  name: string;
  /** Its media type. */
  type: string;
  /** The number of bytes to read: the size of the archive, or of the files that go into it. */
  total: number;
  /** The size of the archive; `undefined` if it is created during the upload. */
  size: number | undefined;
  stream(onRead: (bytes: number) => void): Readable;
}

/** Bytes of the largest file of events that is read. */
const MAX_EVENT_BYTES = 256 * 2 ** 20;

/** The events of a file of OpenLineage; undefined for anything else. @throws Failure */
async function openEvents(path: string): Promise<unknown[] | undefined> {
  const about = await stat(path);
  if (!about.isFile() || !/^\s*[[{]/.test(await headOf(path, 64))) return undefined;
  if (about.size > MAX_EVENT_BYTES)
    throw new Failure(
      `${path} has more than ${humanSize(MAX_EVENT_BYTES)}: split a file of events by lines`,
    );
  return lineageEvents(await readFile(path, "utf8"), path);
}

/** The first bytes of a file, one character each. */
async function headOf(path: string, length: number): Promise<string> {
  const file = await open(path);
  try {
    const head = Buffer.alloc(length);
    const { bytesRead } = await file.read(head, 0, length, 0);
    return head.toString("latin1", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** A crate's folder or archive. @throws Failure */
async function openCrate(path: string, description: FolderOptions): Promise<CrateSource> {
  const about = await stat(path);
  if (about.isDirectory()) {
    const { archiveFolder } = await import("./archive-folder.js");
    const { describeFolder } = await import("./describe-folder.js");
    return {
      ...(await archiveFolder(path, (files) => describeFolder(path, files, description))),
      name: `${basename(resolve(path)) || "crate"}.zip`,
      type: "application/zip",
      size: undefined,
    };
  }
  if (!about.isFile()) throw new Failure(`${path} is neither a folder nor a zip archive`);
  const isDocument = /^\s*\{/.test(await headOf(path, 64));
  if (!isDocument) await assertZip(path);
  return {
    name: basename(path),
    type: isDocument ? "application/ld+json" : "application/zip",
    total: about.size,
    size: about.size,
    stream: (onRead) => counted(createReadStream(path), onRead),
  };
}

/** The beginning of a zip archive (APPNOTE 4.3): a member, or the end of an empty one. */
async function assertZip(path: string): Promise<void> {
  const magic = await headOf(path, 4);
  if (magic !== "PK\u0003\u0004" && magic !== "PK\u0005\u0006")
    throw new Failure(
      `${path} is not a zip archive: give the folder of a crate, a zip of it, a metadata ` +
        "document, or a file of OpenLineage events",
    );
}

function counted(source: Readable, onRead: (bytes: number) => void): Readable {
  let read = 0;
  const counter = new Transform({
    transform(part: Buffer, _encoding, done) {
      onRead((read += part.length));
      done(null, part);
    },
  });
  source.on("error", (error) => counter.destroy(error));
  return source.pipe(counter);
}
