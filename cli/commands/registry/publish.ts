import type { Publication } from "../../../src/use-cases/publication/publish.js";
import { Failure } from "../../failure.js";
import { givenArk, openRegistry, type ServerOption } from "../../registry/registry.js";

export interface PublishOptions extends ServerOption { status: string; until?: string }

/** `publish`: sets who may read the content of a record. @throws Failure */
export async function publishCommand(id: string, { status, until, ...options }: PublishOptions): Promise<void> {
  if (until !== undefined && status !== "EMBARGOED") throw new Failure("--until is the end of an embargo: give --status EMBARGOED with it");
  const ark = givenArk(id);
  const registry = await openRegistry(options, { token: true });
  const answer = await registry.send<Publication>("PUT", "/publish", { "@id": ark, publicationStatus: status, ...(until === undefined ? {} : { embargoedUntil: until }) });
  process.stdout.write(`${answer["@id"]} ${answer.publicationStatus}${answer.embargoedUntil === null ? "" : ` until ${answer.embargoedUntil}`}\n`);
}
