import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { openLog } from "../../src/adapters/log.js";
import { serve } from "../../src/app/serve.js";
import { readConfig } from "../../src/config/config.js";
import { supportTree } from "../../src/services/evidence/tree.js";
import type { EvidenceGraph } from "../../src/services/evidence/types.js";
import { failureOf, fileForm, followSubmission, Registry, type Submission } from "../registry.js";
import { Failure, humanSize, openProgress, paint, ShortIds } from "../terminal.js";
import { PATHS } from "./crate-files.js";
import { buildDemoCrate } from "./crate.js";

/**
 * Starts a registry on temporary data, runs the demo steps, and keeps running until SIGTERM or
 * SIGINT (with `exit` it ends after the steps).
 */
export async function demoCommand({ exit }: { exit: boolean }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "arkgraph-demo-"));
  // Remove the data when the process ends for any reason.
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.on("exit", remove);
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  try {
    await demo(folder, exit, stop.signal);
  } catch (error) {
    // A signal ended a step: this is not a failure.
    if (!stop.signal.aborted) throw error;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    await rm(folder, { recursive: true, force: true });
    process.off("exit", remove);
  }
}

async function demo(folder: string, exit: boolean, stopped: AbortSignal): Promise<void> {
  const { env } = process;
  const config = readConfig({
    ...env,
    PORT: env["PORT"] ?? "0",
    LOG_LEVEL: env["LOG_LEVEL"] ?? "warn",
    DATA_DIR: folder,
    BASE_URL: undefined,
  });
  const running = await serve(config, openLog(config.LOG_LEVEL));
  try {
    process.stdout.write(`\n  ${paint("bold", "Arkgraph demo")}\n\n`);
    done("Registry", `${running.url}, data in ${folder}`);
    const made = await walkThrough(running.url, stopped);
    process.stdout.write(whatNext(running.url, made.token, made));
    if (exit) return;
    process.stdout.write(`\n  ${paint("bold", "Ctrl+C")} ends the demo and removes its data.\n`);
    await new Promise<void>((resolve) => {
      if (stopped.aborted) resolve();
      else stopped.addEventListener("abort", () => resolve(), { once: true });
    });
    process.stdout.write("\n  Stopping …\n");
  } finally {
    await running.stop();
  }
}

function whatNext(url: string, token: string, { crate, result }: Made): string {
  const addresses: [string, string][] = [
    ["Front page", `${url}/`],
    ["REST", `${url}/docs`],
    ["GraphQL", `${url}/graphql`],
    ["The crate", `${url}/${crate}`],
    ["Evidence", `${url}/evidencegraph/query/${result}`],
  ];
  const commands = [
    `TOKEN=${token}`,
    `curl -s ${url}/${crate}`,
    `curl -s -H "Authorization: Bearer $TOKEN" ${url}/datadownload/${result}/download`,
    `curl -s -H "Authorization: Bearer $TOKEN" -OJ ${url}/rocrate/archived/download/${crate}`,
    `curl -s -H "Content-Type: application/json" -d '{"query":"{ evidence(id: ` +
      `\\"${result}\\") { nodes { name } } }"}' ${url}/graphql`,
  ];
  return [
    "",
    `  ${paint("bold", "Explore")}`,
    ...addresses.map(([label, address]) => `    ${label.padEnd(11)} ${paint("cyan", address)}`),
    `    ${"Sign in".padEnd(11)} ${paint("cyan", `${url}/signin`)} as ${DEMO_USER.email}, ` +
      `password: ${DEMO_USER.password}`,
    "",
    `  ${paint("bold", "Try")}`,
    ...commands.map((command) => `    ${command}`),
    "",
  ].join("\n");
}

/** Who registers the crate; the demo prints how to sign in. */
const DEMO_USER = {
  name: "Demo User",
  email: "demo@example.org",
  password: "a password for the demo",
};

/** The records that the demo created, for the addresses shown at its end. */
interface Made {
  crate: string;
  result: string;
  token: string;
}

interface ScoreOfCrate {
  aiReadyScore: { totals: { met: number; total: number } };
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
/** One finished step: its name and its result. */
const done = (label: string, text: string): void =>
  say(`  ${paint("green", "✓")} ${label.padEnd(11)} ${text}`);

/**
 * Registers a user and the example crate and checks the result, each step over HTTP.
 * @param address of the registry; @param signal ends it between two steps and in them
 * @throws Failure at the first step with an unexpected result
 */
export async function walkThrough(address: string, signal: AbortSignal): Promise<Made> {
  const user = DEMO_USER;
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
  const crate = submission.rocrateIdentifier;
  if (crate === null) throw failureOf(submission);
  const metadata = await client.json<{ name?: string }>(`/${crate}`);
  done("Crate", `${crate}, ingested within ${((performance.now() - began) / 1000).toFixed(1)} s`);
  done("Resolved", `“${metadata.name ?? "?"}”`);

  await compareFile(client, `${crate}/${PATHS.figure}`);
  const result = `${crate}/${PATHS.clusters}`;
  await compareFile(client, result);

  await client.send("PUT", "/publish", { "@id": crate, publicationStatus: "PUBLISHED" });
  done("Published", "everybody finds the crate and downloads its files");

  // It is stored from the first time that it is asked for, until the crate changes; lists select by
  // it then.
  const { data } = await client.send<{ data: ScoreOfCrate }>("POST", "/graphql", {
    query: "query ($id: ID!) { aiReadyScore(id: $id) { totals { met total } } }",
    variables: { id: crate },
  });
  const { met, total } = data.aiReadyScore.totals;
  done("Score", `${met} of ${total} criteria of AI-readiness met`);

  const evidence = await client.json<EvidenceGraph>(`/evidencegraph/query/${result}`);
  if (evidence["@graph"].length < 2)
    throw new Failure(`the evidence graph of ${result} contains only the record itself`);
  done("Evidence", `${evidence["@graph"].length} records support ${PATHS.clusters}\n`);
  const ids = new ShortIds(evidence["@graph"].map((node) => node["@id"]));
  for (const line of supportTree(evidence, result)) say(`    ${ids.shorten(line)}`);
  return { crate, result, token };
}

async function send(client: Registry, archive: Buffer): Promise<Submission> {
  const progress = await openProgress("Upload");
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
  const progress = await openProgress("Processing");
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
