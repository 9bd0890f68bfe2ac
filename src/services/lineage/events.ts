import { ValidationError, type ValidationItem } from "../../errors.js";
import { isObject, type JsonObject, type JsonValue } from "../../model/field.js";

/** A dataset or a job as OpenLineage names it, with what its facets say. */
export interface Named {
  /** Where it is in the request. */
  at: readonly (string | number)[];
  namespace: string;
  name: string;
  facets: JsonObject;
}

const EVENT_TYPES = ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"] as const;
type EventType = (typeof EVENT_TYPES)[number];

/**
 * An event of OpenLineage 2.0. An event about a dataset alone has that dataset among its outputs,
 * and neither run nor job; an event about a job alone has no run.
 */
export interface LineageEvent {
  type: EventType;
  /** RFC 3339, UTC. */
  time: string;
  run?: { id: string; facets: JsonObject };
  job?: Named;
  inputs: Named[];
  outputs: Named[];
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** RFC 3339; seconds may be left out, as some producers do. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/i;
/** Longest name of a dataset, job or namespace, in characters. */
const LONGEST_NAME = 2_000;
/** Problems of one request that are reported. */
const MOST_PROBLEMS = 100;

/** Collects every problem of a request, and reads its members with their places. */
class Reader {
  readonly problems: ValidationItem[] = [];

  problem(loc: readonly (string | number)[], msg: string, type = "value_error"): void {
    if (this.problems.length < MOST_PROBLEMS) this.problems.push({ loc: [...loc], msg, type });
  }

  object(value: JsonValue | undefined, loc: readonly (string | number)[]): JsonObject | undefined {
    if (isObject(value)) return value;
    if (value === undefined) this.problem(loc, "Field required", "missing");
    else this.problem(loc, "Input should be a valid dictionary", "dict_type");
    return undefined;
  }

  text(holder: JsonObject, name: string, loc: readonly (string | number)[]): string | undefined {
    const value = holder[name];
    if (value === undefined) this.problem([...loc, name], "Field required", "missing");
    else if (typeof value !== "string")
      this.problem([...loc, name], "Input should be a valid string", "string_type");
    else if (value === "")
      this.problem([...loc, name], "String should have at least 1 character", "string_too_short");
    else if (value.length > LONGEST_NAME)
      this.problem(
        [...loc, name],
        `String should have at most ${LONGEST_NAME} characters`,
        "string_too_long",
      );
    else return value;
    return undefined;
  }

  /** Facets that are not objects say nothing; producers write null where they know nothing. */
  facets({ facets }: JsonObject): JsonObject {
    if (!isObject(facets)) return {};
    return Object.fromEntries(Object.entries(facets).filter(([, facet]) => isObject(facet)));
  }

  named(value: JsonValue | undefined, loc: readonly (string | number)[]): Named | undefined {
    const holder = this.object(value, loc);
    if (!holder) return undefined;
    const namespace = this.text(holder, "namespace", loc);
    const name = this.text(holder, "name", loc);
    if (namespace === undefined || name === undefined) return undefined;
    return { at: loc, namespace, name, facets: this.facets(holder) };
  }

  datasets(event: JsonObject, name: "inputs" | "outputs", at: readonly (string | number)[]) {
    const list = event[name];
    if (list === undefined || list === null) return [];
    if (!Array.isArray(list)) {
      this.problem([...at, name], "Input should be a valid list", "list_type");
      return [];
    }
    return list.flatMap((dataset, index): Named[] => {
      const read = this.named(dataset, [...at, name, index]);
      return read ? [read] : [];
    });
  }

  event(value: JsonValue, at: readonly (string | number)[]): LineageEvent | undefined {
    const event = this.object(value, at);
    if (!event) return undefined;
    const type = event["eventType"] ?? "OTHER";
    if (!EVENT_TYPES.includes(type as EventType))
      this.problem([...at, "eventType"], `Input should be ${EVENT_TYPES.join(", ")}`, "enum");
    const time = this.text(event, "eventTime", at);
    const instant =
      time !== undefined && INSTANT.test(time) ? new Date(time).getTime() : Number.NaN;
    if (time !== undefined && Number.isNaN(instant))
      this.problem(
        [...at, "eventTime"],
        "Value error, not a time of RFC 3339; for example 2026-11-24T10:00:00Z",
      );
    const read: LineageEvent = {
      type: type as EventType,
      time: Number.isNaN(instant) ? "" : new Date(instant).toISOString(),
      inputs: this.datasets(event, "inputs", at),
      outputs: this.datasets(event, "outputs", at),
    };
    if (event["run"] === undefined && event["dataset"] !== undefined) {
      const dataset = this.named(event["dataset"], [...at, "dataset"]);
      return dataset ? { ...read, inputs: [], outputs: [dataset] } : undefined;
    }
    const job = this.named(event["job"], [...at, "job"]);
    if (job) read.job = job;
    if (event["run"] === undefined && job) return read;
    const run = this.object(event["run"], [...at, "run"]);
    const id = run && this.text(run, "runId", [...at, "run"]);
    if (id !== undefined && !UUID.test(id))
      this.problem([...at, "run", "runId"], "Value error, not a UUID", "uuid_parsing");
    if (run && id !== undefined) read.run = { id: id.toLowerCase(), facets: this.facets(run) };
    return read;
  }
}

/**
 * The events of a request: one, or a list of them.
 * @param at where they are in the request
 * @throws ValidationError with every problem and its place
 */
export function readEvents(
  input: JsonValue | undefined,
  at: readonly (string | number)[] = ["body"],
): LineageEvent[] {
  const reader = new Reader();
  if (input === undefined) reader.problem(at, "Field required", "missing");
  const given = input === undefined ? [] : Array.isArray(input) ? input : [input];
  if (Array.isArray(input) && input.length === 0)
    reader.problem(at, "List should have at least 1 item", "too_short");
  const events = given.flatMap((event, index): LineageEvent[] => {
    const read = reader.event(event, Array.isArray(input) ? [...at, index] : at);
    return read ? [read] : [];
  });
  if (reader.problems.length > 0) throw new ValidationError(reader.problems);
  return events;
}
