import { ServiceError, invalid } from "../../errors.js";
import type { JsonObject } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds/index.js";
import { publicView } from "../../model/view.js";
import type { StoredRecord } from "../../stores/records/port.js";
import type { Caller } from "../access/caller.js";
import type { Deps } from "../deps.js";
import { renewed } from "../evidence/stored/renew.js";
import { findLive, findPast } from "./find.js";
import { forgetIn, withoutForgotten } from "./forgotten.js";
import { documentBytes, parseDocument, seesPrivate, viewOf, type BacklinkPositions, type RecordView } from "./view.js";

/** A record in any spelling of its identifier, as the caller sees it. @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE` */
export async function readRecord(deps: Deps, id: string, caller: Caller | null, kind?: KindName, backlinks?: BacklinkPositions): Promise<RecordView> {
  return viewOf(deps, await renewed(deps, await findLive(deps, id, kind)), caller, backlinks);
}

/** An earlier state. Those of a deleted record are for its owner and administrators. @throws ServiceError `NOT_FOUND`, `GONE` */
export async function readRevision(deps: Deps, id: string, revision: number, caller: Caller | null, kind?: KindName): Promise<RecordView> {
  const found = await findPast(deps, id, caller, kind);
  const [record] = (await withoutForgotten(deps, [found])) as [StoredRecord];
  const state = await deps.records.atRevision(record.ark, revision);
  if (!state) throw new ServiceError("NOT_FOUND", `${record.ark} has no revision ${revision}: it has 1 to ${record.revision}.`, { revision: record.revision });
  const whole = parseDocument(state.document);
  const document = await forgetIn(deps, record, whole);
  const shown: JsonObject = seesPrivate(record, caller) ? document : publicView(KINDS[record.kind], document);
  return { record, bytes: documentBytes(shown), etag: `"${revision}-r${shown === whole ? "" : shown === document ? "f" : "v"}"`, ...(revision === record.revision && !record.tombstone && document === whole ? {} : { past: document }) };
}

/** `revision=N` of a query string. @throws ValidationError */
export function revisionParameter(raw: string): number {
  if (!/^[1-9]\d{0,8}$/.test(raw)) throw invalid(["query", "revision"], "Input should be a valid integer, unable to parse string as an integer", "int_parsing");
  return Number(raw);
}
