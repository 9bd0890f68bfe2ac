/** Resolves the entities of a crate: identifiers, kinds and files. */
import { looksLikeArk } from "../../identifiers/ark.js";
import { collectAll } from "../../memory.js";
import { kindOfTypes, typeNames } from "../../model/kind.js";
import { adviseOnPaths } from "./advise.js";
import { type CrateFile, FileTree, isEmbargoed, matchFile } from "./files/match-files.js";
import { type Findings, quoted } from "./findings.js";
import {
  type IdentifiedEntity,
  type IdentifySettings,
  identify,
  placeOf,
} from "./identifiers/identify.js";
import { crateCandidates, separateSummaries, withOwnStatement } from "./identifiers/rewrite.js";
import { statedArk } from "./layout.js";
import { MANY } from "./read.js";
import type { Member } from "./zip/members.js";
import type {
  Claim,
  IntakeHost,
  IntakeInput,
  ReadCrate,
  ResolvedCrate,
  ResolvedEntity,
} from "./steps.js";

/** Identifiers in one message: few enough not to block the side that answers. */
const MAX_CLAIMS_PER_MESSAGE = 2000;

interface ResolveSettings extends IdentifySettings {
  /** The metadata came alone: no file can be there. */
  withoutFiles?: boolean;
}
type DescribedFiles = Pick<ReadCrate, "descriptions" | "metadata"> & {
  members: readonly Pick<Member, "name" | "folder" | "size">[];
};

/**
 * The crate with its identifiers, which the registry has checked: early, before anything is stored;
 * the commit checks again.
 * @throws CrateError with all errors
 */
export async function resolveCrate(
  read: ReadCrate,
  input: IntakeInput,
  host: IntakeHost,
  findings: Findings,
): Promise<ResolvedCrate> {
  const candidates = crateCandidates(read.descriptions);
  const registered =
    candidates.length === 0
      ? []
      : await host.registered(candidates, input.crate ?? statedArk(read.descriptions[0]));
  const crate = resolveEntities(
    read,
    {
      ...input,
      registered: new Map(registered.map((known) => [known.ark, known])),
      withoutFiles: read.archive === undefined,
    },
    findings,
  );
  for (let start = 0; start < crate.entities.length; start += MAX_CLAIMS_PER_MESSAGE) {
    const batch = crate.entities.slice(start, start + MAX_CLAIMS_PER_MESSAGE);
    for (const conflict of await host.claim(batch.map((entity) => claimOf(entity, crate))))
      findings.error(conflict.code, conflict.message, conflict);
  }
  findings.endStep();
  // The texts of the metadata.
  if (read.members.length > MANY || crate.entities.length > MANY) collectAll();
  return crate;
}

const claimOf = (entity: ResolvedEntity, { root }: ResolvedCrate): Claim => ({
  ark: entity.ark,
  kind: entity.kind,
  root: entity === root,
  id: statedId(entity),
  kept: entity.kept,
  ...(entity.linked ? { linked: entity.linked } : {}),
  ...placeOf(entity),
});

/** The `@id` that an identifier is kept from may be in the file of a crate around it. */
const statedId = ({ kept, parts }: ResolvedEntity): string =>
  ((kept ? parts.find(({ entity }) => looksLikeArk(entity.id)) : undefined) ?? parts[0]).entity.id;

/** Layout, identifiers, kinds and files of a crate, without a look at what is stored. */
export function resolveEntities(
  { descriptions, metadata, members }: DescribedFiles,
  settings: ResolveSettings,
  findings: Findings,
): ResolvedCrate {
  const identified = identify(descriptions, settings, findings);
  separateSummaries(identified, descriptions, settings.registered ?? NONE_REGISTERED);
  const tree = new FileTree(members, descriptions[0].folder);
  adviseOnSignatures(tree.files, findings);
  // Of metadata that came alone the files are elsewhere.
  if (!settings.withoutFiles) adviseOnPaths(descriptions, tree, findings);
  const roots = new Map(descriptions.map((description) => [description.root, description.file]));
  const entities = identified.map((entity) =>
    resolveEntity(entity, tree, roots, settings, findings),
  );
  const root = entities.find(({ role }) => role === "root");
  findings.endStep();
  if (!root) {
    findings.throwIfErrors();
    throw new Error("a crate without root went on");
  }
  const kept = new Set(descriptions.flatMap(({ file, converted }) => (converted ? [file] : [])));
  const described = new Set([
    ...metadata.filter((file) => !kept.has(file)),
    ...entities.flatMap(({ file }) => (file ? [file.file.member] : [])),
  ]);
  return {
    root,
    entities: [root, ...entities.filter((entity) => entity !== root)],
    undescribed: tree.files.filter(({ member }) => !described.has(member)),
    findings,
  };
}

/** Signatures and checksums of metadata, and the lists of a bag or of common tools. */
const SIGNED = new RegExp(
  String.raw`(?:^|/)(?:ro-crate-metadata\.json(?:ld)?\.[^/]+|(?:tag)?manifest-[a-z0-9]+\.txt|` +
    String.raw`(?:md5|sha\d*|check)sums?(?:\.txt)?)$`,
  "i",
);

/** Names one file that an export makes untrue: it holds for the metadata as it was uploaded. */
function adviseOnSignatures(files: readonly CrateFile[], findings: Findings): void {
  const signed = files.find(({ path }) => SIGNED.test(path));
  if (signed)
    findings.warn(
      "SIGNED_METADATA",
      `${quoted(signed.path)} signs the metadata or lists its checksum, and does not hold for the ` +
        "metadata that an export writes; verify it with the archive as it was uploaded.",
      { file: signed.member },
    );
}

const NONE_REGISTERED: NonNullable<IdentifySettings["registered"]> = new Map();

function resolveEntity(
  identified: IdentifiedEntity,
  tree: FileTree,
  roots: ReadonlyMap<unknown, string>,
  settings: ResolveSettings,
  findings: Findings,
): ResolvedEntity {
  const entity = withOwnStatement(identified, settings.registered ?? NONE_REGISTERED, findings);
  const types = entity.parts.flatMap((part) =>
    typeNames(part.entity.value, part.scope.description.context, part.entity.value["@context"]),
  );
  // Every export of the crate writes a new metadata file: its descriptor has no stored content.
  if (entity.role === "descriptor") return { ...entity, kind: "entity", embargoed: false };
  const kind = entity.role === "member" && !entity.linked ? kindOfTypes(types) : "rocrate";
  if (
    entity.role !== "member" &&
    !types.includes("Dataset") &&
    (types.includes("File") || types.includes("MediaObject"))
  )
    findings.error(
      "ROOT_NOT_DATASET",
      "The descriptor's `about` names a file; the crate itself is a Dataset.",
      placeOf(entity),
    );
  const file = matchFile(entity, tree, findings, settings);
  const metadata = entity.parts
    .map((part) => roots.get(part.entity))
    .find((found) => found !== undefined);
  return {
    ...entity,
    kind,
    embargoed: isEmbargoed(entity),
    ...(file ? { file } : {}),
    ...(metadata === undefined ? {} : { metadata }),
  };
}
