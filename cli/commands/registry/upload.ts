import { lookupArk } from "../../../src/identifiers/ark.js";
import { Interruptible } from "../../interrupt.js";
import { openCrate, type CrateSource } from "../../crate-archive/source.js";
import { Failure } from "../../failure.js";
import { ConnectionError } from "../../registry/connection-error.js";
import { fileForm } from "../../registry/file-form.js";
import { openRegistry, type Registry, type ServerOption } from "../../registry/registry.js";
import { allWarnings, failureOf, groupedFindings, resumeHint, type Submission } from "../../registry/submission.js";
import { humanSize } from "../../render/style.js";
import { note, terminalProgress } from "../../render/terminal-progress.js";
import { follow } from "./follow.js";

export interface UploadOptions extends ServerOption { wait: boolean; update?: true | string; json?: true }

/** `upload`: sends a crate and waits until it is taken in. @throws Failure */
export async function uploadCommand(path: string, { server, wait, update, json }: UploadOptions): Promise<void> {
  if (typeof update === "string" && lookupArk(update) === undefined) throw new Failure(`--update ${update}: not an ARK; give the identifier of the crate to update, such as ark:99999/rocrate-cells`);
  const interruptible = new Interruptible("stopped before all was sent: nothing was taken in; run the same command again");
  await interruptible.run(async () => {
    const registry = await openRegistry(server === undefined ? {} : { server }, { token: true, signal: interruptible.signal });
    const crate = await openCrate(path);
    let submission = await send(registry, crate, update);
    if (wait && !submission.completed) submission = await follow(registry, submission.submissionUUID, interruptible);
    report(submission, { wait, json: json === true });
  });
}

async function send(registry: Registry, crate: CrateSource, update: true | string | undefined): Promise<Submission> {
  const progress = await terminalProgress("Sending");
  const total = humanSize(crate.total);
  try {
    const stream = crate.stream((bytes) => progress.update(bytes, crate.total, `${humanSize(bytes)} of ${total}`));
    const named = typeof update === "string" ? `&crate=${encodeURIComponent(update)}` : "";
    return await registry.json<Submission>(`/rocrate/upload-async${update ? `?update=true${named}` : ""}`, fileForm({ name: crate.name, size: crate.size, type: "application/zip", stream }));
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    throw new Failure(`${error.message}; run the same command again: an archive is taken in once only`, { cause: error });
  } finally {
    progress.stop();
  }
}

/** The identifier of the crate alone on standard output, so that a script can use it; the rest beside it. */
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
