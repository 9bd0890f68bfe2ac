import { text as textOf } from "node:stream/consumers";
import { invalid } from "../../errors.js";
import { eventLoop } from "../../event-loop-budget.js";
import { KINDS } from "../../model/kinds.js";
import type { Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import type { RecordView } from "../records/view.js";
import { isStream, type RecordFormat } from "./format.js";
import { FORMATS, formatsOf } from "./table.js";

/** The formats that are text and that services write. */
export const TEXT_FORMATS = FORMATS.filter(({ write, isBinary }) => write && !isBinary);

/** A record as text in one format. */
export interface RecordDocument {
  format: RecordFormat;
  text: string;
}

/**
 * A record as text in the format of this name.
 * @throws ValidationError where records of the kind do not have the format, or the record lacks
 * what the format requires
 */
export async function readDocument(
  deps: Deps,
  view: RecordView,
  name: string,
  caller: Caller | null,
): Promise<RecordDocument> {
  const formats = formatsOf(view.record.kind);
  const format = formats.find((candidate) => candidate.name === name);
  if (!format?.write || format.isBinary) {
    const names = formats.filter((one) => TEXT_FORMATS.includes(one)).map((one) => one.name);
    throw invalid(
      ["query", "format"],
      `Value error, a ${KINDS[view.record.kind].typeName} has no format ${name}; it has ` +
        names.join(", "),
    );
  }
  const place = { base: deps.baseUrl(), formats };
  await eventLoop.turnFor(view.bytes.length);
  const written = await format.write({ deps, view, place, caller });
  if (isStream(written)) return { format, text: await textOf(await written.open()) };
  return { format, text: typeof written === "string" ? written : Buffer.from(written).toString() };
}
