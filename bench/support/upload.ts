import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "./client.js";

const BOUNDARY = "----arkgraph-bench";

/**
 * Uploads an archive from a file, as curl does, and waits until it is ingested.
 * @throws Error with its findings when it was refused
 */
export async function uploadFile({ url, token }: Client, file: string): Promise<void> {
  const head = Buffer.from(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="crate.zip"\r\n` +
      `Content-Type: application/zip\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
  const { size } = await stat(file);
  const req = request(`${url}/rocrate/upload-async`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": `multipart/form-data; boundary=${BOUNDARY}`,
      "Content-Length": head.length + size + tail.length,
    },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) =>
    req.on("response", resolve).on("error", reject),
  );
  await pipeline(async function* () {
    yield head;
    yield* createReadStream(file, { highWaterMark: 1 << 20 });
    yield tail;
  }, req);
  const answer = await answered;
  const body = await text(answer);
  if (answer.statusCode !== 200)
    throw new Error(`the upload was answered ${answer.statusCode}: ${body.slice(0, 500)}`);
  const { submissionUUID } = JSON.parse(body) as { submissionUUID: string };
  for (;;) {
    const state = (await (
      await fetch(`${url}/rocrate/upload/status/${submissionUUID}`, {
        headers: { Authorization: `Bearer ${token}` },
      })
    ).json()) as { completed: boolean; success: boolean; error: unknown };
    if (state.success) return;
    if (state.completed)
      throw new Error(`the crate was not ingested: ${JSON.stringify(state.error).slice(0, 500)}`);
    await pause(20);
  }
}
