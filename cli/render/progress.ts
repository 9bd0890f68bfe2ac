import { SingleBar, type GenericFormatter } from "cli-progress";
import { paint } from "./table.js";

/** Shows the progress of one operation. */
export interface ProgressLine {
  /** @param total null while it is not known */
  update(done: number, total: number | null, stage?: string): void;
  stop(): void;
}

/** The width of a bar, in characters. */
const WIDTH = 24;

/** A bar on a terminal; elsewhere a plain line for each new stage. */
export function openProgress(
  label: string,
  stream: NodeJS.WriteStream = process.stdout,
): ProgressLine {
  return stream.isTTY ? bar(label, stream) : plainLines(label, stream);
}

function bar(label: string, stream: NodeJS.WriteStream): ProgressLine {
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
