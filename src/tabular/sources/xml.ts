/** XML of any size, read part by part. */
import sax from "sax";
import { TabularError } from "../limits.js";

/** Takes what an XML document holds; names are without their prefix. */
export interface XmlHandler {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
}

/** Elements inside each other; documents of workbooks have about ten. */
const MAX_DEPTH = 100;

const local = (name: string): string => name.slice(name.indexOf(":") + 1);

/**
 * Reads an XML document; after each part of it the caller may take what its handler collected.
 * @param name of the document, for errors
 * @throws TabularError `DATA` for text that is no well-formed XML
 */
export async function* readXml(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  handler: XmlHandler,
): AsyncGenerator<void> {
  const parser = sax.parser(true, { position: false });
  let depth = 0;
  const fail = (reason: string, cause?: unknown): never => {
    throw new TabularError("DATA", `its ${name} cannot be read: ${reason}`, { cause });
  };
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- sax has no listeners
  parser.onerror = (error) => fail((error.message.split("\n")[0] ?? "").toLowerCase(), error);
  parser.onopentag = (tag) => {
    if (++depth > MAX_DEPTH) fail(`elements are more than ${MAX_DEPTH} deep`);
    handler.open?.(
      local(tag.name),
      Object.fromEntries(
        Object.entries(tag.attributes).map(([key, value]) => [local(key), String(value)]),
      ),
    );
  };
  parser.onclosetag = (tag) => {
    depth--;
    handler.close?.(local(tag));
  };
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- sax has no listeners
  parser.ontext = (text) => handler.text?.(text);
  parser.oncdata = (text) => handler.text?.(text);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decoded = (part?: Uint8Array): string => {
    try {
      return decoder.decode(part, { stream: part !== undefined });
    } catch (cause) {
      return fail("it is not UTF-8", cause);
    }
  };
  for await (const part of bytes) {
    parser.write(decoded(part));
    yield;
  }
  parser.write(decoded()).close();
  yield;
}

/** Reads a document that is small. */
export async function readWholeXml(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  handler: XmlHandler,
): Promise<void> {
  for await (const _ of readXml(name, bytes, handler));
}
