import { createHash } from "node:crypto";
import { performance } from "node:perf_hooks";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { supportTree } from "../../src/services/evidence/tree.js";
import type { EvidenceGraph } from "../../src/services/evidence/types.js";
import { Failure } from "../failure.js";
import { fileForm, Registry } from "../registry/registry.js";
import { failureOf, followSubmission, type Submission } from "../registry/submission.js";
import { openProgress } from "../render/progress.js";
import { humanSize, paint, ShortIds } from "../render/table.js";
import { buildDemoCrate } from "./build-crate.js";
import { PATHS } from "./crate/files.js";

/** The records that the demo created, for the addresses shown at its end. */
export interface Made {
  crate: string;
  result: string;
  token: string;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
/** One finished step: its name and its result. */
export const done = (label: string, text: string): void =>
  say(`  ${paint("green", "✓")} ${label.padEnd(11)} ${text}`);

/**
 * Registers a user and the example crate and checks the result, each step over HTTP.
 * @param address of the registry; @param signal ends it between two steps and in them
 * @throws Failure at the first step with an unexpected result
 */
export async function walkThrough(address: string, signal: AbortSignal): Promise<Made> {
  const user = {
    name: "Demo User",
    email: "demo@example.org",
    password: "a password for the demo",
  };
  const anonymous = new Registry(address, undefined, signal);
  done(
    "Account",
    `${(await anonymous.send<{ "@id": string }>("POST", "/user", user))["@id"]} (${user.email})`,
  );
  const { access_token: token } = await anonymous.send<{ access_token: string }>("POST", "/token", {
    username: user.email,
    password: user.password,
  });
  const client = new Registry(address, token, signal);
  done("Token", "obtained from POST /token");

  const archive = await buildDemoCrate();
  const began = performance.now();
  const submission = await intake(client, await send(client, archive), signal);
  const crate = submission.rocrateIdentifier!;
  const metadata = await client.json<{ name?: string }>(`/${crate}`);
  done("Crate", `${crate}, ingested within ${((performance.now() - began) / 1000).toFixed(1)} s`);
  done("Resolved", `“${metadata.name ?? "?"}”`);

  await compareFile(client, `${crate}/${PATHS.figure}`);
  const result = `${crate}/${PATHS.clusters}`;
  await compareFile(client, result);

  const evidence = await client.json<EvidenceGraph>(`/evidencegraph/query/${result}`);
  if (evidence["@graph"].length < 2)
    throw new Failure(`the evidence graph of ${result} contains only the record itself`);
  done("Evidence", `${evidence["@graph"].length} records support ${PATHS.clusters}\n`);
  const ids = new ShortIds(evidence["@graph"].map((node) => node["@id"]));
  for (const line of supportTree(evidence, result)) say(`    ${ids.shorten(line)}`);
  return { crate, result, token };
}

async function send(client: Registry, archive: Buffer): Promise<Submission> {
  const progress = openProgress("Upload");
  try {
    progress.update(0, archive.length, `sending ${humanSize(archive.length)}`);
    const stream = Readable.from(
      chunks(archive, (bytes) =>
        progress.update(bytes, archive.length, `sending ${humanSize(archive.length)}`),
      ),
    );
    const submission = await client.json<Submission>(
      "/rocrate/upload-async",
      fileForm({ name: "demo-crate.zip", size: archive.length, type: "application/zip", stream }),
    );
    progress.stop();
    done("Upload", `${humanSize(archive.length)} sent, submission ${submission.submissionUUID}`);
    return submission;
  } finally {
    progress.stop();
  }
}

/** Bytes handed to the network at a time; small enough to see an upload move. */
const CHUNK = 4096;
function* chunks(archive: Buffer, sent: (bytes: number) => void): Generator<Buffer> {
  for (let from = 0; from < archive.length; from += CHUNK) {
    yield archive.subarray(from, from + CHUNK);
    sent(Math.min(from + CHUNK, archive.length));
  }
}

async function intake(
  client: Registry,
  submitted: Submission,
  signal: AbortSignal,
): Promise<Submission> {
  const progress = openProgress("Processing");
  try {
    const submission = await followSubmission(
      client,
      submitted.submissionUUID,
      (state) => {
        if (!("unavailable" in state))
          progress.update(
            state.progress?.done ?? 0,
            state.progress?.total ?? null,
            state.stage ?? state.status,
          );
      },
      signal,
    );
    progress.stop();
    if (!submission.success) throw failureOf(submission);
    done(
      "Processing",
      `${submission.status}, ${submission.identifiersMinted} identifiers minted, ` +
        (submission.warnings.length === 1 ? "1 warning" : `${submission.warnings.length} warnings`),
    );
    return submission;
  } finally {
    progress.stop();
  }
}

/** Reads the record of a file, fetches the file from the address in the record, and compares. */
async function compareFile(client: Registry, ark: string): Promise<void> {
  const record = await client.json<{ name: string; contentUrl: string; sha256: string }>(`/${ark}`);
  const bytes = await buffer(await client.open(record.contentUrl));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== record.sha256)
    throw new Failure(
      `the file of ${ark} has the SHA-256 ${sha256}, its record says ${record.sha256}`,
    );
  done(
    "File",
    `“${record.name}”, ${humanSize(bytes.length)}, SHA-256 as recorded (${sha256.slice(0, 12)}…)`,
  );
}
