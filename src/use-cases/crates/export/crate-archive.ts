import { Readable } from "node:stream";
import yazl from "yazl";
import type { JsonValue } from "../../../model/field.js";
import type { ObjectReference } from "../../../stores/records/objects-port.js";
import type { StoredRecord } from "../../../stores/records/port.js";
import { ServiceError } from "../../../errors.js";
import type { Caller } from "../../access/caller.js";
import { isMinted } from "../../../identifiers/mint.js";
import { mayReadContent } from "../../access/rules.js";
import type { Deps } from "../../deps.js";
import { referencesIn } from "../json-path.js";
import { typeNames } from "../kinds.js";
import { DESCRIPTOR, describedCrate, descriptorArk } from "../layout/descriptor.js";
import { RATIO_FROM } from "../zip/inflate.js";
import { entityUrl, type EntityNames } from "./crate-entity.js";
import { CrateContext, UsedContexts } from "./crate-context.js";
import { crateMetadata, descriptorEntity, metadataOf, surveyCrate, type CrateSurvey, type Descriptor } from "./crate-metadata.js";
import { stateOf } from "./crate-records.js";
import { MemberPaths } from "./member-paths.js";
import { FileStatements, decoded, relativeId, suffixOf } from "./file-statements.js";

/** A file of the archive, to be read when its turn comes. */
interface Member { path: string; at: number; object: ObjectReference }
/** What a crate's archive will hold. */
export interface CrateArchive {
  root: StoredRecord;
  /** Of the crate when it was looked through; what is written differs where this differs. */
  state: string;
  /** Files that the caller may not read: they are described, and their bytes are left out. */
  left: { ark: string; name: string }[];
  /** The archive's bytes. Ends with an error when the crate changes before its metadata is written. */
  open(): Readable;
}

/** Types whose bytes deflate makes no smaller. */
const PACKED = /^(?:image\/(?!svg|tiff|bmp)|audio\/|video\/|application\/(?:zip|gzip|x-7z-compressed|x-xz|zstd|vnd\.openxmlformats))/;
/** A path that is its own percent-encoding. */
const PLAIN = /^[A-Za-z0-9._/-]+$/;
const NOTE = "NOT-INCLUDED.txt";

/**
 * A crate as an RO-Crate archive, made from its records as they are now and their stored contents.
 * Memory is that of the names of its files, however large they are.
 */
export async function crateArchive(deps: Pick<Deps, "records" | "objects" | "log">, root: StoredRecord, caller: Caller | null): Promise<CrateArchive> {
  const state = await stateOf(deps, root);
  const paths = new MemberPaths();
  const names = new Map<string, string>();
  const members: Member[] = [];
  const left: CrateArchive["left"] = [];
  const crates = new Map<string, InnerCrate>();
  const descriptors = new Map<string, Descriptor>();
  const folders: string[] = [];
  const statements = new FileStatements(root.ark);
  const survey = await surveyCrate(deps, root, async (record, document) => {
    if (record.kind === "dataset" && suffixOf(record.ark, root.ark) !== undefined) folders.push(record.ark);
    const crate = describedCrate(record.ark);
    if (crate !== undefined && record.kind === "entity") descriptors.set(crate, { record, document });
    if (record.kind === "rocrate" && record.ark !== root.ark) crates.set(record.ark, { record, id: entityUrl(record, document) ?? record.ark, types: document["@type"], isEvident: typeNames(document, document["@context"]).includes("ROCrate") });
    const objects = await deps.records.objectsOf(record.ark);
    const [content] = objects.filter(({ role }) => role === "content");
    const others = record.ark === root.ark ? objects.filter(({ role }) => role === "member") : [];
    if (!content && others.length === 0) return;
    if (!(await mayReadContent(deps.records, caller, record))) {
      for (const { name } of content ? [content] : others) left.push({ ark: record.ark, name });
      return;
    }
    for (const object of others) members.push({ path: paths.take(object.name) ?? paths.place(object.name), at: record.modifiedAt, object });
    if (!content) return;
    const { path, id } = statements.place(record, document, content, paths);
    if (id !== undefined) names.set(record.ark, id);
    members.push({ path, at: record.modifiedAt, object: content });
  });
  for (const ark of folders) {
    const suffix = suffixOf(ark, root.ark)!;
    if (!names.has(ark) && paths.hasFolder(decoded(suffix))) names.set(ark, `${relativeId(suffix)}/`);
  }
  names.set(descriptorArk(root.ark), DESCRIPTOR);
  // RO-Crate 1.0 and 1.1 ask for a root whose identifier ends with a slash, as the one that it came with did; an
  // ARK is the same with it.
  if (isMinted(root.ark, "rocrate") && /\/1\.[01]$/.test(claimed(survey))) names.set(root.ark, `${root.ark}/`);
  const inner: InnerMetadata[] = [];
  for (const [ark, crate] of crates) {
    const descriptor = descriptors.get(ark);
    // What calls itself a crate is one without a metadata file of its own.
    if (crate.isEvident && !descriptor) continue;
    const suffix = suffixOf(ark, root.ark);
    const path = paths.takeMetadata(suffix === undefined ? `crates/${ark.replace(/[^A-Za-z0-9._-]+/g, "-")}` : decoded(suffix));
    // A path with other characters can be written in several ways; the ARK is one.
    if (descriptor && PLAIN.test(path)) names.set(descriptorArk(ark), path);
    inner.push({ ...crate, descriptor, path });
  }
  return { root, state, left, open: () => write(deps, { root, state, left, members, inner, paths, survey, names: { context: survey.context, known: survey.known, paths: names }, statements }) };
}

/** Version of RO-Crate that the crate is exported as. */
function claimed({ descriptor, conformsTo }: CrateSurvey): string {
  return descriptor ? (referencesIn(descriptor.document["conformsTo"]).find((iri) => iri.startsWith("https://w3id.org/ro/crate/")) ?? "") : conformsTo;
}

/** A crate within the crate. */
interface InnerCrate { record: StoredRecord; id: string; types: JsonValue | undefined; isEvident: boolean }
/** One that has a metadata file of its own in the archive. */
interface InnerMetadata extends InnerCrate { descriptor: Descriptor | undefined; path: string }

/**
 * Metadata of a crate within the crate: its descriptor and what it is. Its entities stand in the metadata of the
 * whole.
 */
function innerMetadata({ record, id, types, descriptor }: InnerMetadata, survey: CrateSurvey): string {
  const used = new UsedContexts();
  if (descriptor) used.add(descriptor.document);
  const context = descriptor ? new CrateContext(descriptor.document["@context"], used) : survey.context;
  const names: EntityNames = { context, known: survey.known, paths: new Map([[descriptorArk(record.ark), DESCRIPTOR]]) };
  const described = descriptorEntity(record.ark, { descriptor, conformsTo: survey.conformsTo }, names, id);
  return metadataOf(context.whole, [described, { "@id": id, ...(types === undefined ? {} : { "@type": types }) }]);
}

interface Plan { root: StoredRecord; state: string; left: CrateArchive["left"]; members: Member[]; inner: InnerMetadata[]; paths: MemberPaths; survey: CrateSurvey; names: EntityNames; statements: FileStatements }

function write(deps: Pick<Deps, "records" | "objects">, { root, state, left, members, inner, paths, survey, names, statements }: Plan): Readable {
  const without = new Set(inner.map(({ record }) => descriptorArk(record.ark)));
  const zip = new yazl.ZipFile();
  const output = zip.outputStream as Readable;
  let reading: Readable | undefined;
  const broken = (error: Error) => void output.destroy(error);
  zip.on("error", broken);
  // Who leaves early must not keep a file open.
  output.on("close", () => reading?.destroy());
  const add = (path: string, at: number, more: { size?: number; compress: boolean }, source: () => Promise<Readable>) =>
    zip.addReadStreamLazy(path, { mtime: new Date(at), mode: 0o100644, ...more }, (begin) => {
      if (output.destroyed) return;
      source().then((stream) => {
        reading = stream.on("error", broken);
        if (output.destroyed) stream.destroy();
        else begin(null, stream);
      }, broken);
    });
  add("ro-crate-metadata.json", root.modifiedAt, { compress: true }, async () => Readable.from(asItWas(deps, state, root, crateMetadata(deps, root, survey, names, { told: (record, document) => statements.of(record, document), without }))));
  for (const crate of inner) zip.addBuffer(Buffer.from(innerMetadata(crate, survey)), crate.path, { mtime: new Date(crate.record.modifiedAt) });
  for (const { path, at, object } of members)
    // What inflates to much more than was sent would be taken for a bomb where it is uploaded.
    add(path, at, { size: object.size, compress: object.size <= RATIO_FROM && !PACKED.test(object.mediaType) }, () => deps.objects.open(object.sha256, undefined, { size: object.size }));
  if (left.length > 0) zip.addBuffer(Buffer.from(noteOf(left)), paths.take(NOTE) ?? paths.place(NOTE), { mtime: new Date(root.modifiedAt) });
  zip.end();
  return output;
}

/** Files were chosen before their description is written: both must be of one state. */
async function* asItWas(deps: Pick<Deps, "records">, state: string, root: StoredRecord, text: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const piece of text) yield Buffer.from(piece);
  if ((await stateOf(deps, root)) !== state) throw new ServiceError("STORE_UNAVAILABLE", `${root.ark} changed while its archive was made; ask again.`);
}

const noteOf = (left: CrateArchive["left"]): string =>
  `Described in ro-crate-metadata.json and not included, because whoever asked may not read them:\n\n${left.map(({ ark, name }) => `${ark}\t${name}`).join("\n")}\n`;
