import { mkdtemp, rm } from "node:fs/promises";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config/config.js";
import { openLog } from "../../src/adapters/log.js";
import { serve } from "../../src/app/serve.js";
import { paint } from "../render/table.js";
import { done, walkThrough, type Made } from "./steps.js";

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
    `curl -s -H "Content-Type: application/json" -d '{"query":"{ evidenceGraph(id: ` +
      `\\"${result}\\") { nodes { name } } }"}' ${url}/graphql`,
  ];
  return [
    "",
    `  ${paint("bold", "Explore")}`,
    ...addresses.map(([label, address]) => `    ${label.padEnd(11)} ${paint("cyan", address)}`),
    "",
    `  ${paint("bold", "Try")}`,
    ...commands.map((command) => `    ${command}`),
    "",
  ].join("\n");
}
