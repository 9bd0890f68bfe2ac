import type { JsonObject, JsonValue } from "../../../model/field.js";
import type { ObjectReference } from "../../../stores/records/objects-port.js";
import type { StoredRecord } from "../../../stores/records/port.js";
import { localPath } from "../files/match-files.js";
import { listOf } from "../json-path.js";
import { NO_SOURCE, contentUrlOf } from "../records/document.js";
import type { MemberPaths } from "./member-paths.js";

/** What is behind the ARK of a crate in that of a record: the path that the crate called it by, percent-encoded. */
export const suffixOf = (ark: string, crate: string): string | undefined => (ark.startsWith(`${crate}/`) ? ark.slice(crate.length + 1) : undefined);

/** A path as a relative `@id`: never taken for an absolute one. */
export const relativeId = (suffix: string): string => (/^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(suffix) ? `./${suffix}` : suffix);

export function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Where the files of a crate are put, and what its metadata says of them there. */
export class FileStatements {
  /** `contentUrl` in the archive, by ARK: null where the `@id` itself is the path. */
  private readonly placed = new Map<string, { url: string | null; object: ObjectReference }>();

  constructor(private readonly crate: string) {}

  /** Finds a file's place: the path that its identifier is made of, else the one that its crate found it under. */
  place(record: StoredRecord, document: JsonObject, object: ObjectReference, paths: MemberPaths): { path: string; id?: string } {
    const suffix = suffixOf(record.ark, this.crate);
    // Names made for what has no path of its own are no paths.
    if (suffix !== undefined && !suffix.startsWith("entity/")) {
      const path = paths.take(decoded(suffix));
      if (path !== undefined) {
        this.placed.set(record.ark, { url: null, object });
        return { path, id: relativeId(suffix) };
      }
    }
    for (const source of listOf(document["sourceContentUrl"])) {
      const local = typeof source === "string" ? localPath(source)?.replace(/^(?:\.?\/+)+/, "") : undefined;
      const path = local === undefined ? undefined : paths.take(decoded(local));
      if (path === undefined) continue;
      this.placed.set(record.ark, { url: source as string, object });
      return { path };
    }
    const path = paths.place(object.name);
    this.placed.set(record.ark, { url: path.split("/").map(encodeURIComponent).join("/"), object });
    return { path };
  }

  /** What is told of a record in the archive: of a file that is in it, as its author would say it. */
  of(record: StoredRecord, document: JsonObject): JsonObject {
    const file = this.placed.get(record.ark);
    if (!file) return document;
    const { contentUrl, sourceContentUrl, ...rest } = document;
    const stated = isOwnContentUrl(contentUrl, record) ? sourceContentUrl : contentUrl;
    const url: JsonValue | undefined = file.url ?? stated;
    // A place that the archive has for it is none that its author told: what was told stands beside it.
    const source: JsonObject = file.url === null || file.url === sourceContentUrl ? {} : { sourceContentUrl: sourceContentUrl ?? NO_SOURCE };
    return { ...withFacts(rest, file.object), ...(url === undefined || url === null ? {} : { contentUrl: url }), ...source };
  }
}

/** A digest that was edited since would have the archive refused where it is uploaded; a size that is wrong would not. */
function withFacts(document: JsonObject, { sha256 }: ObjectReference): JsonObject {
  const { sha256: digest } = document;
  return typeof digest === "string" && /^[0-9a-f]{64}$/i.test(digest) && digest.toLowerCase() !== sha256 ? { ...document, sha256 } : document;
}

/** True for a `contentUrl` that the registry wrote, here or under an address that it had before. */
function isOwnContentUrl(url: JsonValue | undefined, { kind, ark }: StoredRecord): boolean {
  return typeof url === "string" && url.endsWith(contentUrlOf("", kind, ark));
}
