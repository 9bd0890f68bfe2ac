/**
 * A bare Express 5 handler that asks PostgreSQL for each record, of the address given as an
 * argument, and sends its document: no checks, no headers of its own.
 */
import type { AddressInfo } from "node:net";
import express from "express";
import { BareStatements } from "./postgres.js";

const [url, connections] = process.argv.slice(2) as [string, string];
const bare = new BareStatements(url, Number(connections));
const app = express();
app.get("/*path", (req, res, next) => {
  bare
    .document(req.path.slice(1))
    .then(
      (document) =>
        document ? res.type("application/ld+json").send(document) : res.sendStatus(404),
      next,
    );
});
const server = app.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
