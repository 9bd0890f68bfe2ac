import { createHash, type Hash } from "node:crypto";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  arkPath,
  ConnectionError,
  connectionError,
  givenArk,
  openRegistry,
  type Registry,
  type ServerOption,
} from "../../registry.js";
import {
  Failure,
  humanSize,
  Interruptible,
  terminalProgress,
  visible,
  writeFailure,
} from "../../terminal.js";

/** The description of stored bytes, which the registry sends before the bytes. */
interface Content {
  path: string;
  /** Lower-case hex: bytes are stored under their hash, which is their ETag. */
  sha256: string;
  size: number;
  /** File name without folders. */
  name: string;
}

/** @throws Failure when no content is stored, or the caller may not read it */
async function describeContent(registry: Registry, ark: string): Promise<Content> {
  const path = `/download/${arkPath(ark)}`;
  const { statusCode, headers } = await registry.ask(path, { method: "HEAD" });
  // A response to HEAD has no body with the reason: repeat the request with GET.
  if (statusCode !== 200) await registry.text(path, { headers: { Range: "bytes=0-0" } });
  const sha256 = /^"([0-9a-f]{64})"$/.exec(headers.etag ?? "")?.[1];
  const size = Number(headers["content-length"]);
  if (sha256 === undefined || !Number.isSafeInteger(size))
    throw new Failure(
      `${registry.address} sent no hash and no size for ${ark}, so the download cannot ` +
        "be verified",
    );
  return { path, sha256, size, name: fileName(headers["content-disposition"] ?? "") };
}

/**
 * The file name of a `Content-Disposition` (RFC 6266), made safe: no folders, nothing hidden, no
 * control characters.
 */
function fileName(disposition: string): string {
  const extended = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
  const plain = /filename="([^"]*)"/i.exec(disposition)?.[1];
  let name = plain ?? "";
  try {
    if (extended !== undefined) name = decodeURIComponent(extended.trim());
  } catch {
    // Use the plain name then.
  }
  return (
    (name.split(/[\\/]/).at(-1) ?? "").replace(/\p{Cc}/gu, "_").replace(/^\.+/, "") || "content"
  );
}

/** The number of consecutive attempts without data after which the download fails. */
const ATTEMPTS = 5;
/** Ms before the next attempt; doubled each time. */
const PAUSE = 500;

/**
 * Reads content from a position to its end, and resumes after a broken connection.
 * @param take is awaited, so that a slow disk slows the reading;
 * @param signal ends it
 * @throws ConnectionError when several consecutive attempts bring no data; Failure when the content
 * has changed meanwhile
 */
export async function transfer(
  registry: Registry,
  content: Content,
  from: number,
  hash: Hash,
  take: (part: Buffer, at: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let at = from;
  let attempts = 0;
  while (at < content.size) {
    const before = at;
    try {
      const answer = await registry.open(
        content.path,
        { headers: { Range: `bytes=${at}-`, "If-Range": `"${content.sha256}"` } },
        [200, 206],
      );
      if (answer.statusCode === 200 && at > 0) {
        answer.destroy();
        throw new Failure(
          "the content has changed since the download began: run the same command again",
        );
      }
      for await (const part of answer as AsyncIterable<Buffer>) {
        hash.update(part);
        await take(part, at);
        at += part.length;
      }
      if (at < content.size)
        throw new ConnectionError(`${registry.address} sent only ${at} of ${content.size} bytes`);
    } catch (error) {
      signal.throwIfAborted();
      const { code } = error as NodeJS.ErrnoException;
      const broken =
        error instanceof ConnectionError
          ? error
          : code === "ECONNRESET" || code === "ETIMEDOUT" || code === "EPIPE"
            ? connectionError(registry.address, error as NodeJS.ErrnoException)
            : undefined;
      if (!broken) throw error;
      attempts = at > before ? 1 : attempts + 1;
      if (attempts >= ATTEMPTS) throw broken;
      await sleep(PAUSE * 2 ** (attempts - 1), undefined, { signal });
    }
  }
}

export interface DownloadOptions extends ServerOption {
  output?: string;
  force?: true;
}

/** `download`: the stored content of a record, compared with its hash. @throws Failure */
export async function downloadCommand(
  id: string,
  { output, force, ...options }: DownloadOptions,
): Promise<void> {
  const ark = givenArk(id);
  const interruptible = new Interruptible("stopped; run the same command again to resume");
  await interruptible.run(async () => {
    const registry = await openRegistry(options, { signal: interruptible.signal });
    const content = await describeContent(registry, ark);
    if (output === "-") return toOutput(registry, content, interruptible.signal);
    const target = await targetOf(output, content.name);
    if (force !== true && (await stat(target).catch(() => undefined)))
      throw new Failure(
        `${target} exists already: choose another name with --output, or add --force to ` +
          "overwrite it",
      );
    await toFile(registry, content, target, interruptible.signal);
    process.stdout.write(`Wrote ${visible(target)} (${content.size} bytes, SHA-256 as recorded)\n`);
  });
}

async function targetOf(output: string | undefined, name: string): Promise<string> {
  if (output === undefined) return name;
  return (await stat(output).catch(() => undefined))?.isDirectory() === true
    ? join(output, name)
    : output;
}

const mismatch = (sha256: string, { sha256: expected }: Content): Failure =>
  new Failure(
    `the downloaded content has the SHA-256 ${sha256} instead of ${expected}: it was ` +
      "discarded, try again",
  );

/**
 * Downloads into a temporary file beside the target, and renames it when it is complete and its
 * hash is correct.
 */
async function toFile(
  registry: Registry,
  content: Content,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const partial = join(dirname(target), `.${basename(target)}.${content.sha256.slice(0, 16)}.part`);
  const progress = await terminalProgress("Receiving");
  const total = humanSize(content.size);
  const hash = createHash("sha256");
  const file = await open(partial, "a+", 0o666).catch(async (error: unknown) => {
    throw await writeFailure(target, error);
  });
  try {
    let { size: from } = await file.stat();
    if (from > content.size) {
      await file.truncate(0);
      from = 0;
    }
    if (from > 0)
      for await (const part of createReadStream(partial, { end: from - 1 }))
        hash.update(part as Buffer);
    await transfer(
      registry,
      content,
      from,
      hash,
      async (part, at) => {
        await file.appendFile(part);
        progress.update(
          at + part.length,
          content.size,
          `${humanSize(at + part.length)} of ${total}`,
        );
      },
      signal,
    );
    await file.sync();
  } catch (error) {
    if (error instanceof ConnectionError)
      throw new Failure(`${error.message}; run the same command again to resume`, {
        cause: error,
      });
    throw error;
  } finally {
    progress.stop();
    await file.close();
  }
  const sha256 = hash.digest("hex");
  if (sha256 !== content.sha256) {
    await rm(partial, { force: true });
    throw mismatch(sha256, content);
  }
  await rename(partial, target);
}

async function toOutput(registry: Registry, content: Content, signal: AbortSignal): Promise<void> {
  const hash = createHash("sha256");
  await transfer(
    registry,
    content,
    0,
    hash,
    async (part) => {
      if (!process.stdout.write(part)) await once(process.stdout, "drain");
    },
    signal,
  );
  const sha256 = hash.digest("hex");
  if (sha256 !== content.sha256) throw mismatch(sha256, content);
}
