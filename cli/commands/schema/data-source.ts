import { open, stat } from "node:fs/promises";
import type { TextOptions } from "../../../src/tabular/reader/open-source.js";
import { Failure } from "../../failure.js";
import { inFile } from "./schema-file.js";

/** Bytes asked for at a time. */
const PART = 256 << 10;

/** Data to check: a name for messages, its bytes, and its size where it is known. */
export interface DataSource {
  name: string;
  size: number | undefined;
  bytes: AsyncIterable<Uint8Array>;
}

const UTF_8 = "utf-8";

/** How text is read: in the encoding that was named, else as UTF-8, with a remark where it is not. */
export function textOptions(encoding: string | undefined, remark: (sentence: string) => void): TextOptions {
  if (encoding !== undefined && encoding !== UTF_8) return { encoding };
  return {
    onForeign: ({ byte, offset, word }) => {
      const place = `byte 0x${byte.toString(16).toUpperCase()} at offset ${offset}`;
      remark(`it is not UTF-8 (${place}): if it is Latin-1${word === undefined ? "" : ` (“${word}”)`}, give --encoding latin1`);
    },
  };
}

/** Opens a data file; `-` is standard input. @throws Failure, at once when there is no such file */
export async function openData(path: string): Promise<DataSource> {
  if (path === "-") return { name: "standard input", size: undefined, bytes: process.stdin };
  const about = await inFile(path, () => stat(path));
  if (about.isDirectory()) throw new Failure(`${path}: it is a folder, not a file`);
  return { name: path, size: about.isFile() ? about.size : undefined, bytes: fileParts(path) };
}

/** The parts of a file, the next one being read while one is worked on; a part's buffer serves again for the next but one. */
async function* fileParts(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path);
  try {
    const buffers = [Buffer.allocUnsafeSlow(PART), Buffer.allocUnsafeSlow(PART)] as const;
    let turn = 0;
    let next = file.read(buffers[0], 0, PART, null);
    for (;;) {
      const { bytesRead } = await next;
      if (bytesRead === 0) return;
      const part = buffers[turn % 2]!.subarray(0, bytesRead);
      turn++;
      next = file.read(buffers[turn % 2]!, 0, PART, null);
      // Its failure is met when it is awaited; nobody awaits it when the reader stops early.
      next.catch(() => undefined);
      yield part;
    }
  } finally {
    await file.close();
  }
}
