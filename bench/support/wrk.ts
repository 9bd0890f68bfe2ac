import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { findProgram } from "../../test/support/servers/programs.js";
import type { Load, LoadResult } from "./load.js";

const run = promisify(execFile);
const program = findProgram("wrk");
/** Whether the load generator written in C is installed (Debian: `wrk`). */
export const hasWrk = program !== undefined;
/** Seconds; it counts in whole ones. */
export const SHORTEST = 1;

/**
 * A request that waits longer than this counts as failed (s): as long as autocannon's own limit is.
 */
const TIMEOUT = 10;

interface Summary {
  requests: number;
  microseconds: number;
  failed: number;
}

/**
 * One run of wrk. It takes about a tenth of the CPU time that a client in Node takes: where the
 * cores are shared with the server, that is the server's.
 *
 * @throws Error when wrk did not measure
 */
export async function runWrk(load: Load): Promise<LoadResult> {
  const folder = await mkdtemp(join(tmpdir(), "arkgraph-wrk-"));
  try {
    const script = join(folder, "load.lua");
    await writeFile(script, scriptOf(load));
    const { stdout } = await run(program!, [
      "-t",
      "1",
      "-c",
      String(load.connections),
      "-d",
      `${Math.round(load.seconds)}s`,
      "--timeout",
      `${TIMEOUT}s`,
      "-s",
      script,
      load.url,
    ]);
    const stated = /^SUMMARY (.*)$/m.exec(stdout)?.[1];
    if (stated === undefined) throw new Error(`wrk did not measure: ${stdout}`);
    const { requests, microseconds, failed } = JSON.parse(stated) as Summary;
    const done = Math.max(0, requests - failed);
    return { perSecond: done / (microseconds / 1e6), done, failed };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Requests are made into bytes before the clock starts; with paths, the connections share one list
 * of them.
 */
export function scriptOf({ method = "GET", headers = {}, body, paths }: Load): string {
  return [
    `wrk.method = ${text(method)}`,
    ...Object.entries(headers).map(
      ([name, value]) => `wrk.headers[${text(name)}] = ${text(value)}`,
    ),
    ...(body === undefined ? [] : [`wrk.body = ${text(body)}`]),
    ...(paths ? [`local paths = { ${paths.map(text).join(", ")} }`, ...OF_PATHS] : []),
    ...SUMMARY,
  ].join("\n");
}

const OF_PATHS = [
  "local requests, n = {}, 0",
  "init = function() for i, path in ipairs(paths) do requests[i] = wrk.format(nil, path) end end",
  "request = function() n = n % #requests + 1; return requests[n] end",
];

const SUMMARY = [
  "done = function(summary)",
  "  local e = summary.errors",
  `  print(string.format('SUMMARY {"requests":%d,"microseconds":%d,"failed":%d}', ` +
    "summary.requests, summary.duration, e.connect + e.read + e.write + e.status + e.timeout))",
  "end",
];

/** A string of Lua, byte for byte. */
const text = (value: string): string =>
  `"${[...Buffer.from(value)].map((byte) => (byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, "0")}`)).join("")}"`;
