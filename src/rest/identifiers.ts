import { readFile } from "node:fs/promises";
import { join } from "node:path";
import jsonld from "jsonld";
import { Parser, Writer } from "n3";
import { ServiceError } from "../errors.js";
import { preferred } from "../http/negotiation.js";
import { sendBytes } from "../http/reply.js";
import { packageRoot } from "../package-root.js";
import type { Handlers } from "./request.js";
import { ownValue } from "../own.js";

/** Files of `ontology/` that are Turtle, by the name they are served under. */
const TURTLE: Readonly<Record<string, string>> = { evi: "evi.ttl", shapes: "shapes.ttl" };
const VOCABULARY_TYPES = ["text/turtle", "application/n-triples", "application/ld+json"] as const;
const read = new Map<string, Promise<Buffer>>();

/** A served form of a vocabulary; created once. */
function served(file: string, format: (typeof VOCABULARY_TYPES)[number]): Promise<Buffer> {
  const key = `${file} ${format}`;
  let bytes = read.get(key);
  if (!bytes) {
    bytes = readFile(join(packageRoot, "ontology", file)).then((turtle) =>
      format === "text/turtle" ? turtle : converted(turtle.toString("utf8"), format),
    );
    bytes.catch(() => read.delete(key));
    read.set(key, bytes);
  }
  return bytes;
}

async function converted(
  turtle: string,
  format: "application/n-triples" | "application/ld+json",
): Promise<Buffer> {
  const triples = new Writer({ format: "N-Triples" }).quadsToString(new Parser().parse(turtle));
  if (format === "application/n-triples") return Buffer.from(triples);
  return Buffer.from(
    JSON.stringify(
      await jsonld.fromRDF(triples as unknown as object, { format: "application/n-quads" }),
    ),
  );
}

export const ontologyOperations: Handlers = {
  ontology: async ({ req, res, params }) => {
    const name = params.name;
    const headers = { "Cache-Control": "public, max-age=3600", Vary: "Accept" };
    if (name === "context") {
      const bytes = await readFile(join(packageRoot, "ontology", "context.jsonld"));
      return sendBytes(req, res, bytes, {
        type: preferred(req.headers.accept, ["application/ld+json", "application/json"]),
        headers,
      });
    }
    const file = ownValue(TURTLE, name);
    if (file === undefined)
      throw new ServiceError(
        "NOT_FOUND",
        "There is no vocabulary of this name; there are " +
          `${[...Object.keys(TURTLE), "context"].join(", ")}.`,
      );
    const format = preferred(req.headers.accept, VOCABULARY_TYPES);
    sendBytes(req, res, await served(file, format), {
      type: format.startsWith("text/") ? `${format}; charset=utf-8` : format,
      headers,
    });
  },
};
