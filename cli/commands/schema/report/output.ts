import { once } from "node:events";

/** Characters collected before they are written. */
const BATCH = 64 << 10;

/** Writes to a stream in large pieces, and waits when it is full. A reader that went away (`| head`) ends the process quietly. */
export class Output {
  private pending = "";

  constructor(private readonly stream: NodeJS.WriteStream = process.stdout) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      process.exit(process.exitCode ?? 1);
    });
  }

  get isTerminal(): boolean {
    return this.stream.isTTY === true;
  }

  /** @returns a promise to wait for when there is something to wait for */
  write(text: string): Promise<void> | undefined {
    this.pending += text;
    return this.pending.length >= BATCH ? this.flush() : undefined;
  }

  async flush(): Promise<void> {
    const text = this.pending;
    this.pending = "";
    if (text !== "" && !this.stream.write(text)) await once(this.stream, "drain");
  }
}
