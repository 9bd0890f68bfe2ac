import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import type { StagedObject } from "../../stores/objects/port.js";
import { announce } from "../objects/announce.js";
import type { Deps } from "../deps.js";

/** A file while it arrives. */
export interface IncomingFile { stream: Readable; /** As the client calls it. */ name: string; mediaType: string }

/** A file that has arrived and belongs to no record yet. */
export interface StagedFile { object: StagedObject; name: string; mediaType: string }

/** @throws ServiceError `TOO_LARGE`; whatever the stream fails with, and nothing stays behind then */
export async function stageFile(deps: Deps, { stream, name, mediaType }: IncomingFile): Promise<StagedFile> {
  return { object: await deps.objects.stage(stream, { limit: deps.config.MAX_UPLOAD_BYTES, limitName: "MAX_UPLOAD_BYTES" }), name, mediaType };
}

/**
 * Gives the bytes to `use`, which has them stored by `keep` once nothing stands against it, and makes a record
 * refer to them. When that fails they are discarded, or left to the sweep.
 */
export async function withStaged<T>(deps: Deps, { object }: StagedFile, use: (keep: () => Promise<void>) => Promise<T>): Promise<T> {
  const holder = { kind: "upload" as const, id: randomUUID() };
  let kept: Promise<void> | undefined;
  const keep = () => (kept ??= announce(deps, { ...holder, attempt: 0 }, [object.sha256]).then(() => object.publish()).then(() => deps.damage.whole(object.sha256)));
  try {
    return await use(keep);
  } finally {
    // An intent that outlived its upload would keep unused bytes for INTENT_LIFETIME; a failure to end it does no more harm than that.
    const stored = await kept?.then(() => true, () => false);
    if (stored !== true) await object.discard();
    if (kept) await deps.records.release(holder).catch((err: unknown) => deps.log.warn({ err }, "an intent could not be ended"));
  }
}
