import type { Hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "../failure.js";
import { ConnectionError, connectionError } from "../registry/connection-error.js";
import type { Registry } from "../registry/registry.js";
import type { Content } from "./content.js";

/** Attempts in a row that bring nothing. */
const ATTEMPTS = 5;
/** Ms before the next one; twice as long each time. */
const PAUSE = 500;

/**
 * Reads content from a position to its end, and goes on where a connection broke off.
 * @param take is waited for, so that a slow disk slows the reading; @param signal ends it
 * @throws ConnectionError when several attempts in a row bring nothing; Failure when the content has changed meanwhile
 */
export async function transfer(registry: Registry, content: Content, from: number, hash: Hash, take: (part: Buffer, at: number) => Promise<void>, signal: AbortSignal): Promise<void> {
  let at = from;
  let attempts = 0;
  while (at < content.size) {
    const before = at;
    try {
      const answer = await registry.open(content.path, { headers: { Range: `bytes=${at}-`, "If-Range": `"${content.sha256}"` } }, [200, 206]);
      if (answer.statusCode === 200 && at > 0) {
        answer.destroy();
        throw new Failure("the content has changed since the download began: run the same command again");
      }
      for await (const part of answer as AsyncIterable<Buffer>) {
        hash.update(part);
        await take(part, at);
        at += part.length;
      }
      if (at < content.size) throw new ConnectionError(`${registry.address} sent ${at} bytes of ${content.size}`);
    } catch (error) {
      signal.throwIfAborted();
      const { code } = error as NodeJS.ErrnoException;
      const broken = error instanceof ConnectionError ? error : code === "ECONNRESET" || code === "ETIMEDOUT" || code === "EPIPE" ? connectionError(registry.address, error as NodeJS.ErrnoException) : undefined;
      if (!broken) throw error;
      attempts = at > before ? 1 : attempts + 1;
      if (attempts >= ATTEMPTS) throw broken;
      await sleep(PAUSE * 2 ** (attempts - 1), undefined, { signal });
    }
  }
}
