/**
 * A bare Express 5 handler that asks PostgreSQL for each record, of the address given as an
 * argument, and sends its document: no checks, no headers of its own.
 */
import type { AddressInfo } from "node:net";
import express from "express";
import pg from "pg";
import { FIND } from "./postgres.js";

const [url, connections] = process.argv.slice(2) as [string, string];
const pool = new pg.Pool({ connectionString: url, max: Number(connections) });
const app = express();
app.get("/*path", (req, res, next) => {
  pool
    .query<unknown[]>({ name: "find", text: FIND, values: [req.path.slice(1)], rowMode: "array" })
    .then(({ rows: [row] }) => {
      if (row) res.type("application/ld+json").send(row.at(-1));
      else res.sendStatus(404);
    }, next);
});
const server = app.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
