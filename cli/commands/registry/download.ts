import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { describeContent, type Content } from "../../download/content.js";
import { transfer } from "../../download/transfer.js";
import { Failure } from "../../failure.js";
import { Interruptible } from "../../interrupt.js";
import { ConnectionError } from "../../registry/connection-error.js";
import { givenArk, openRegistry, type Registry, type ServerOption } from "../../registry/registry.js";
import { humanSize } from "../../render/style.js";
import { terminalProgress } from "../../render/terminal-progress.js";
import { writeFailure } from "../../target-folder.js";
import { visible } from "../../render/visible.js";

export interface DownloadOptions extends ServerOption { output?: string; force?: true }

/** `download`: the stored content of a record, compared with its hash. @throws Failure */
export async function downloadCommand(id: string, { output, force, ...options }: DownloadOptions): Promise<void> {
  const ark = givenArk(id);
  const interruptible = new Interruptible("stopped; the same command goes on where it stopped");
  await interruptible.run(async () => {
    const registry = await openRegistry(options, { signal: interruptible.signal });
    const content = await describeContent(registry, ark);
    if (output === "-") return toOutput(registry, content, interruptible.signal);
    const target = await targetOf(output, content.name);
    if (force !== true && (await stat(target).catch(() => undefined))) throw new Failure(`${target} exists already: give another name with --output, or --force to overwrite it`);
    await toFile(registry, content, target, interruptible.signal);
    process.stdout.write(`Wrote ${visible(target)} (${content.size} bytes, SHA-256 as recorded)\n`);
  });
}

async function targetOf(output: string | undefined, name: string): Promise<string> {
  if (output === undefined) return name;
  return (await stat(output).catch(() => undefined))?.isDirectory() === true ? join(output, name) : output;
}

const mismatch = (sha256: string, { sha256: expected }: Content): Failure => new Failure(`what came has the SHA-256 ${sha256}, the registry says ${expected}: it was thrown away, try again`);

/** Beside its target under a name of its own until all of it is there and is what it should be. */
async function toFile(registry: Registry, content: Content, target: string, signal: AbortSignal): Promise<void> {
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
    if (from > 0) for await (const part of createReadStream(partial, { end: from - 1 })) hash.update(part as Buffer);
    await transfer(registry, content, from, hash, async (part, at) => {
      await file.appendFile(part);
      progress.update(at + part.length, content.size, `${humanSize(at + part.length)} of ${total}`);
    }, signal);
    await file.sync();
  } catch (error) {
    if (error instanceof ConnectionError) throw new Failure(`${error.message}; the same command goes on where it stopped`, { cause: error });
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
  await transfer(registry, content, 0, hash, async (part) => {
    if (!process.stdout.write(part)) await once(process.stdout, "drain");
  }, signal);
  const sha256 = hash.digest("hex");
  if (sha256 !== content.sha256) throw mismatch(sha256, content);
}
