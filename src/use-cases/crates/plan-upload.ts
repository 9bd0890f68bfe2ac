import { authenticated, type Caller } from "../access/caller.js";
import type { Deps } from "../deps.js";
import type { IncomingFile } from "../files/staged-file.js";
import { uploadLimit } from "./limits.js";
import { namedCrate, type UploadOptions } from "./named-crate.js";
import { planCrate, type CratePlan } from "./plan.js";
import type { CrateFormat } from "./run/protocol.js";

/** What a file is by its media type, or else its name: a metadata document, or an archive (`.zip`, `.eln`). */
export function formatOf({ mediaType, name }: Pick<IncomingFile, "mediaType" | "name">): CrateFormat {
  return /^application\/(?:[\w.-]+\+)?json$/i.test(mediaType) || /\.json(?:ld)?$/i.test(name) ? "metadata" : "zip";
}

/**
 * What an upload of this file by the caller would come to. The bytes are held in a temporary place while they are
 * looked at; no object, submission or record comes of it.
 * @throws ServiceError as {@link namedCrate}, `NOT_AUTHENTICATED`, `TOO_LARGE`, `SHUTTING_DOWN`; whatever the stream fails with; the signal's reason
 */
export async function planUpload(deps: Deps, caller: Caller | null, file: IncomingFile, { update = false, crate: named }: UploadOptions, signal: AbortSignal): Promise<CratePlan> {
  const { user } = authenticated(caller);
  const format = formatOf(file);
  const crate = named === undefined ? undefined : await namedCrate(deps, user, named);
  const staged = await deps.objects.stage(file.stream, { ...uploadLimit(deps.config, format), signal });
  try {
    const name = file.name || (format === "zip" ? "crate.zip" : "ro-crate-metadata.json");
    return await deps.planTurns.run(signal, (either) => planCrate(deps, { sha256: staged.sha256, staged: staged.place, name, format, user, update: update || crate !== undefined, ...(crate === undefined ? {} : { crate }) }, either));
  } finally {
    await staged.discard();
  }
}
