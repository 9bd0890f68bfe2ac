import { pipeline } from "node:stream/promises";
import { arkPath, givenArk, openRegistry, type ServerOption } from "../../registry/registry.js";

/** Media type by the name of the format. */
const TYPES = { json: "application/ld+json", turtle: "text/turtle", nquads: "application/n-quads" } as const;

/** `get`: a record as it stands. @throws Failure */
export async function getCommand(id: string, { format, ...options }: ServerOption & { format: keyof typeof TYPES }): Promise<void> {
  const path = `/${arkPath(givenArk(id))}`;
  const registry = await openRegistry(options);
  const sending = { headers: { Accept: TYPES[format] } };
  if (format === "json") process.stdout.write(`${JSON.stringify(await registry.json<unknown>(path, sending), null, 2)}\n`);
  else await pipeline(await registry.open(path, sending), process.stdout, { end: false });
}
