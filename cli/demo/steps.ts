import { createHash } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { EvidenceGraph } from "../../src/use-cases/evidence/types.js";
import { supportTree } from "../../src/use-cases/evidence/tree.js";
import { Failure } from "../failure.js";
import { openProgress } from "../render/progress.js";
import { humanSize, paint } from "../render/style.js";
import { buildDemoCrate } from "./build-crate.js";
import type { Client, Submission } from "./client.js";
import { PATHS } from "./crate/files.js";

/** What the demo made, for the addresses shown at its end. */
export interface Made { crate: string; result: string }

const say = (line: string): void => void process.stdout.write(`${line}\n`);
/** One finished step: what it was, and what came of it. */
export const done = (label: string, text: string): void => say(`  ${paint("green", "✓")} ${label.padEnd(11)} ${text}`);

/**
 * Registers a user and the example crate and looks at what became of it, each step over HTTP.
 * @throws Failure at the first step that does not give what it should
 */
export async function walkThrough(client: Client): Promise<Made> {
  const user = { name: "Demo User", email: "demo@example.org", password: "a password for the demo" };
  done("Account", `${await client.register(user)} (${user.email})`);
  await client.login(user.email, user.password);
  done("Token", "obtained from POST /token");

  const archive = await buildDemoCrate();
  const began = performance.now();
  const submission = await intake(client, await send(client, archive));
  const crate = submission.rocrateIdentifier!;
  const metadata = await client.json<{ name?: string }>(`/${crate}`);
  done("Crate", `${crate}, taken in within ${((performance.now() - began) / 1000).toFixed(1)} s`);
  done("Resolved", `“${metadata.name ?? "?"}”`);

  await compareFile(client, `${crate}/${PATHS.figure}`);
  const result = `${crate}/${PATHS.clusters}`;
  await compareFile(client, result);

  const evidence = await client.json<EvidenceGraph>(`/evidencegraph/query/${result}`);
  if (evidence["@graph"].length < 2) throw new Failure(`the evidence graph of ${result} holds nothing but itself`);
  done("Evidence", `what ${PATHS.clusters} rests on: ${evidence["@graph"].length} records\n`);
  // Identifiers inside the crate all begin alike; the short form leaves room for the tree.
  for (const line of supportTree(evidence, result)) say(`    ${line.replaceAll(`${crate}/`, "…/")}`);
  return { crate, result };
}

async function send(client: Client, archive: Buffer): Promise<Submission> {
  const progress = openProgress("Upload");
  try {
    progress.update(0, archive.length, `sending ${humanSize(archive.length)}`);
    const submission = await client.upload(archive, "demo-crate.zip", (bytes) => progress.update(bytes, archive.length, `sending ${humanSize(archive.length)}`));
    progress.stop();
    done("Upload", `${humanSize(archive.length)} sent, submission ${submission.submissionUUID}`);
    return submission;
  } finally {
    progress.stop();
  }
}

async function intake(client: Client, submitted: Submission): Promise<Submission> {
  const progress = openProgress("Processing");
  try {
    const submission = await client.settled(submitted, ({ stage, status, progress: at }) => progress.update(at?.done ?? 0, at?.total ?? null, stage ?? status));
    progress.stop();
    if (!submission.success) throw new Failure(`the crate was not taken in: ${(submission.error ?? []).map(({ code, message }) => `${code}: ${message}`).join("; ")}`);
    done("Processing", `${submission.status}, ${submission.identifiersMinted} identifiers made, ${submission.warnings.length === 1 ? "1 warning" : `${submission.warnings.length} warnings`}`);
    return submission;
  } finally {
    progress.stop();
  }
}

/** Reads a file's record, fetches the file from where the record says, and compares. */
async function compareFile(client: Client, ark: string): Promise<void> {
  const record = await client.json<{ name: string; contentUrl: string; sha256: string }>(`/${ark}`);
  const bytes = await client.bytes(record.contentUrl);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== record.sha256) throw new Failure(`the file of ${ark} has the SHA-256 ${sha256}, its record says ${record.sha256}`);
  done("File", `“${record.name}”, ${humanSize(bytes.length)}, SHA-256 as recorded (${sha256.slice(0, 12)}…)`);
}
