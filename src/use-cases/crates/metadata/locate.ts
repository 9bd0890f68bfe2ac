import { crateError, type Findings } from "../findings.js";

const METADATA = /(?:^|\/)ro-crate-metadata\.json(?:ld)?$/;
/** Metadata of a detached crate, whose files are elsewhere (RO-Crate 1.2, "Detached RO-Crate Package"). */
const DETACHED = /(?:^|\/)[^/]+-ro-crate-metadata\.json$/;

/** A metadata file and the folder that its relative paths start from: empty, or with `/` at the end. */
export interface MetadataFile { file: string; folder: string }
export interface LocatedMetadata { root: MetadataFile; nested: MetadataFile[] }

const folderOf = (file: string): string => file.slice(0, file.lastIndexOf("/") + 1);
const depthOf = (file: string): number => file.split("/").length;

/**
 * Finds the crate's metadata file: the shallowest in the archive, however deep (RO-Crate 1.2, "Retrieving an
 * RO-Crate": top folders and BagIt bags). Deeper ones in its folder are nested crates, outermost first.
 * @param files paths of the archive's files
 * @throws CrateError when there is none, or two at one depth
 */
export function locateMetadata(files: readonly string[], findings: Findings): LocatedMetadata {
  const attached = withoutLegacy(files.filter((file) => METADATA.test(file)), findings);
  const found = (attached.length > 0 ? attached : files.filter((file) => DETACHED.test(file))).toSorted((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1));
  const [root] = found;
  if (root === undefined)
    throw crateError("NO_METADATA", "The archive has no ro-crate-metadata.json (or .jsonld) in any folder; add one that describes the crate.");
  const rivals = found.filter((file) => depthOf(file) === depthOf(root));
  if (rivals.length > 1)
    throw crateError("AMBIGUOUS_METADATA", `${rivals.slice(0, 5).join(" and ")} lie equally deep; upload one crate at a time.`, { file: root });
  const nested: MetadataFile[] = [];
  for (const file of found.slice(1)) {
    const folder = folderOf(file);
    if (!folder.startsWith(folderOf(root))) findings.warn("NESTED_ELSEWHERE", "The metadata file lies outside the crate's folder and is kept as a plain file.", { file });
    else if (nested.some((other) => other.folder === folder)) throw crateError("AMBIGUOUS_METADATA", `The folder ${folder} has two metadata files; keep one.`, { file });
    else nested.push({ file, folder });
  }
  return { root: { file: root, folder: folderOf(root) }, nested };
}

/** Without each legacy `.jsonld` that stands beside a `.json`: tools that write both mean one crate. */
function withoutLegacy(found: readonly string[], findings: Findings): string[] {
  const names = new Set(found);
  return found.filter((file) => {
    const newer = file.replace(/\.jsonld$/, ".json");
    if (newer === file || !names.has(newer)) return true;
    findings.warn("METADATA_TWICE", `${newer} lies beside it and is read; this one is stored as a plain file.`, { file });
    return false;
  });
}
