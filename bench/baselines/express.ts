/**
 * A bare Express 5 handler that answers every path with the same bytes from memory, of the length
 * given as an argument.
 */
import type { AddressInfo } from "node:net";
import express from "express";

const bytes = Buffer.from(process.argv[2]!, "base64");
const app = express();
app.get("/*path", (_req, res) => {
  res.type("application/ld+json").send(bytes);
});
const server = app.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
