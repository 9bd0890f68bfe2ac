import type { GenericFormatter } from "cli-progress";
import { paint } from "./table.js";

/** Shows the progress of one operation. */
interface ProgressLine {
  /** @param total null while it is not known */
  update(done: number, total: number | null, stage?: string): void;
  stop(): void;
}

/** The width of a bar, in characters. */
const WIDTH = 24;

/** A bar on a terminal; elsewhere a plain line for each new stage. */
export async function openProgress(
  label: string,
  stream: NodeJS.WriteStream = process.stdout,
): Promise<ProgressLine> {
  return stream.isTTY ? bar(label, stream) : plainLines(label, stream);
}

const NONE: ProgressLine = { update() {}, stop() {} };

/** A progress bar if standard error is a terminal; otherwise nothing. */
export const terminalProgress = async (label: string): Promise<ProgressLine> =>
  process.stderr.isTTY ? bar(label, process.stderr) : NONE;

/** Prints one line for the user on standard error, beside the results. */
export const note = (line: string): void => void process.stderr.write(`arkgraph: ${line}\n`);

async function bar(label: string, stream: NodeJS.WriteStream): Promise<ProgressLine> {
  // Most commands draw no bar.
  const { SingleBar } = await import("cli-progress");
  const format: GenericFormatter = (_options, { progress }, { stage }: { stage: string }) => {
    const filled = Math.round(Math.min(1, progress) * WIDTH);
    return (
      `  ${paint("cyan", "…")} ${label.padEnd(11)} ` +
      `${paint("cyan", "█".repeat(filled))}${paint("dim", "░".repeat(WIDTH - filled))} ` +
      stage
    );
  };
  const single = new SingleBar({
    format,
    stream,
    clearOnComplete: true,
    hideCursor: true,
    fps: 20,
  });
  let started = false;
  return {
    update(done, total, stage = "") {
      if (!started) single.start(total ?? 1, 0, { stage });
      started = true;
      single.setTotal(total ?? Math.max(done, 1));
      single.update(total === null ? 0 : done, { stage });
    },
    stop() {
      if (started) single.stop();
    },
  };
}

function plainLines(label: string, stream: NodeJS.WriteStream): ProgressLine {
  let last = "";
  return {
    update(_done, _total, stage = "") {
      if (stage === "" || stage === last) return;
      last = stage;
      stream.write(`  … ${label.padEnd(11)} ${stage}\n`);
    },
    stop() {},
  };
}
