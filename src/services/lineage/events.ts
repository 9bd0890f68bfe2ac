/** Events of OpenLineage: how they are read, and which documents they change. */
import { createHash } from "node:crypto";
import { invalid, ValidationError, type ValidationItem } from "../../errors.js";
import { parseArk, slug } from "../../identifiers/ark.js";
import { isObject, type JsonObject, type JsonValue } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { type ExchangedColumn, fromColumns } from "../../tabular/interchange/exchange.js";
import { TabularError } from "../../tabular/limits.js";
import { ownValue } from "../../own.js";

/** A dataset or a job as OpenLineage names it, with what its facets say. */
interface Named {
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
interface LineageEvent {
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
const MAX_NAME_CHARS = 2_000;
/** Problems of one request that are reported. */
const MAX_PROBLEMS = 100;

/** Collects every problem of a request, and reads its members with their places. */
class Reader {
  readonly problems: ValidationItem[] = [];

  problem(loc: readonly (string | number)[], msg: string, type = "value_error"): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ loc: [...loc], msg, type });
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
    else if (value.length > MAX_NAME_CHARS)
      this.problem(
        [...loc, name],
        `String should have at most ${MAX_NAME_CHARS} characters`,
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

/** What an event says about one record. */
export interface LineageChange {
  ark: string;
  kind: KindName;
  /** The event is about this record: it must be possible to write it. */
  isRun: boolean;
  /** The next document from the current one; the record is new without one. */
  apply(document: JsonObject | undefined): JsonObject;
}

const CONTEXT: JsonObject = { "@vocab": "https://schema.org/", evi: "https://w3id.org/EVI#" };
/** Longest name and text of a record that is made from an event, in characters. */
const [MAX_LABEL_CHARS, MAX_TEXT_CHARS] = [200, 20_000];
const shortened = (text: string, most = MAX_LABEL_CHARS): string =>
  text.length > most ? [...text].slice(0, most).join("") : text;
const textIn = (facet: JsonValue | undefined, name: string): string | undefined => {
  const text = isObject(facet) ? facet[name] : undefined;
  return typeof text === "string" && text.trim() !== "" ? text : undefined;
};

/**
 * The identifier of what an event names, below the owner of its record: nobody else may register
 * one there, so no other account can take it beforehand. The same names give the same identifier.
 */
function lineageArk(owner: string, kind: string, title: string, ...names: string[]): string {
  const hash = createHash("sha256").update(JSON.stringify(names)).digest("hex").slice(0, 20);
  const words = slug(title);
  return `${owner}/lineage/${kind}/${words === "" ? "" : `${words}-`}${hash}`;
}

/** The record of a dataset: its name may be the ARK of one that is registered already. */
const datasetArk = (owner: string, { namespace, name }: Name): string =>
  parseArk(name)?.stored ?? lineageArk(owner, "dataset", name, namespace, name);
const runArk = (owner: string, id: string): string => `${owner}/lineage/run/${id}`;

/** The changes that an event makes, for records of this owner. @throws ValidationError */
export function changesOf(event: LineageEvent, owner: string): LineageChange[] {
  const { run, job } = event;
  const software = job && softwareOf(job, owner);
  return [
    ...[...event.inputs, ...event.outputs].flatMap((dataset) => [
      ...(isArk(dataset) ? [] : datasetChanges(dataset, owner)),
      ...nameChanges(dataset, owner),
    ]),
    ...(software ? [software] : []),
    ...(run && job ? [runChange(event, run, job, owner, software?.ark)] : []),
  ];
}

type Name = Pick<Named, "namespace" | "name">;

/** Whether it is the name of a record that is registered already, which stays as it is. */
const isArk = ({ name }: Name): boolean => parseArk(name) !== undefined;

/** The record of a dataset from its name alone. */
const namedDataset = ({ namespace, name }: Name, ark: string, owner: string): JsonObject => ({
  "@context": CONTEXT,
  "@id": ark,
  "@type": "evi:Dataset",
  name: shortened(name),
  description: shortened(`The dataset ${name} in ${namespace}.`, MAX_TEXT_CHARS),
  owner,
  identifier: `${namespace}/${name}`,
});

function datasetChanges(dataset: Named, owner: string): LineageChange[] {
  const { facets } = dataset;
  const ark = datasetArk(owner, dataset);
  const schema = schemaOf(dataset, owner);
  const said = withoutUndefined({
    description: descriptionIn(facets),
    url: textIn(facets["dataSource"], "uri"),
    version: textIn(facets["version"], "datasetVersion"),
    "evi:hasSchema": schema && { "@id": schema.ark },
  });
  return [
    ...(schema ? [schema] : []),
    {
      ark,
      kind: "dataset",
      isRun: false,
      apply: (before) => ({ ...(before ?? namedDataset(dataset, ark, owner)), ...said }),
    },
  ];
}

/** Other names of the dataset: those that lead to it, and the one that it had. */
function otherNames({ facets }: Named): Name[] {
  const { symlinks, lifecycleStateChange: change } = facets;
  const linked = isObject(symlinks) ? symlinks["identifiers"] : undefined;
  const renamed =
    isObject(change) && textIn(change, "lifecycleStateChange") === "RENAME"
      ? [change["previousIdentifier"]]
      : [];
  return [...(Array.isArray(linked) ? linked : []), ...renamed].flatMap((other) => {
    const [namespace, name] = [textIn(other, "namespace"), textIn(other, "name")];
    return namespace === undefined ||
      name === undefined ||
      Math.max(namespace.length, name.length) > MAX_NAME_CHARS
      ? []
      : [{ namespace, name }];
  });
}

/**
 * The records of two names of one dataset, each derived from the other: jobs write under one name
 * and read under the other, in either order, and evidence leads across. A record that is named by
 * its ARK is never written.
 */
const nameChanges = (dataset: Named, owner: string): LineageChange[] =>
  otherNames(dataset).flatMap((other) => {
    const [one, two] = [datasetArk(owner, dataset), datasetArk(owner, other)];
    if (one === two) return [];
    const derived = (name: Name, ark: string, from: string): LineageChange[] =>
      isArk(name)
        ? []
        : [
            {
              ark,
              kind: "dataset",
              isRun: false,
              apply: (before) => {
                const document = before ?? namedDataset(name, ark, owner);
                return { ...document, derivedFrom: joined(document["derivedFrom"], [from]) };
              },
            },
          ];
    return [...derived(dataset, one, two), ...derived(other, two, one)];
  });

/** The schema facet as a schema record, a revision for each change of the fields. */
function schemaOf(
  { at, namespace, name, facets }: Named,
  owner: string,
): LineageChange | undefined {
  const { schema } = facets;
  const fields = isObject(schema) ? schema["fields"] : undefined;
  if (!Array.isArray(fields) || fields.length === 0) return undefined;
  const ark = lineageArk(owner, "schema", name, namespace, name);
  const columns: ExchangedColumn[] = [];
  addColumns(fields, "", columns);
  let properties: JsonObject;
  try {
    properties = fromColumns(columns) as unknown as JsonObject;
  } catch (error) {
    if (!(error instanceof TabularError)) throw error;
    throw invalid([...at, "facets", "schema", "fields"], `Value error, ${error.message}`);
  }
  return {
    ark,
    kind: "schema",
    isRun: false,
    apply: (before) => ({
      ...(before ?? {
        "@context": { "@vocab": "https://schema.org/", EVI: "https://w3id.org/EVI#" },
        "@id": ark,
        "@type": "EVI:Schema",
        name: shortened(`Schema of ${name}`),
        description: shortened(`Fields of the dataset ${name} in ${namespace}.`, MAX_TEXT_CHARS),
        owner,
        type: "object",
        additionalProperties: true,
        required: [],
      }),
      properties,
    }),
  };
}

/** Fields of structures come behind them, by their path. */
function addColumns(fields: JsonValue[], above: string, columns: ExchangedColumn[]): void {
  for (const [index, field] of fields.entries()) {
    if (!isObject(field)) continue;
    const name = above + (textIn(field, "name") ?? `column_${index}`);
    const type = textIn(field, "type");
    const description = textIn(field, "description");
    columns.push({
      name,
      type: typeOf(type ?? ""),
      description: [description, type && `Type ${type}.`].filter(Boolean).join(" "),
      valueURL: null,
      keywords: {},
    });
    if (Array.isArray(field["fields"])) addColumns(field["fields"], `${name}.`, columns);
  }
}

/** Types are those of the data source, in its own words. */
function typeOf(type: string): ExchangedColumn["type"] {
  if (
    /^(?:tiny|small|medium|big|u?)int(?:eger)?\d*$|^(?:u?int|integer|long|short|byte)\d*$/i.test(
      type,
    )
  )
    return "integer";
  if (/^(?:float|double|real|decimal|numeric|number)/i.test(type)) return "number";
  return /^bool/i.test(type) ? "boolean" : "string";
}

/** The software of a job whose facet says where its source code is; one record a version. */
function softwareOf(job: Named, owner: string): LineageChange | undefined {
  const facet = job.facets["sourceCodeLocation"];
  const url = textIn(facet, "url") ?? textIn(facet, "repoUrl");
  if (url === undefined) return undefined;
  const version = textIn(facet, "version") ?? textIn(facet, "tag") ?? textIn(facet, "branch");
  const path = textIn(facet, "path");
  const ark = lineageArk(owner, "software", job.name, url, version ?? "", path ?? "");
  const said = withoutUndefined({
    codeRepository: textIn(facet, "repoUrl") ?? url,
    url,
    version,
    programmingLanguage: textIn(job.facets["sourceCode"], "language"),
  });
  return {
    ark,
    kind: "software",
    isRun: false,
    apply: (before) =>
      before ?? {
        "@context": CONTEXT,
        "@id": ark,
        metadataType: "evi:Software",
        name: shortened(path ?? job.name),
        description:
          descriptionIn(job.facets) ??
          shortened(`Source code of the job ${job.name} in ${job.namespace}.`, MAX_TEXT_CHARS),
        owner,
        ...said,
      },
  };
}

const STATUS = "https://schema.org/";
const ENDED: Readonly<Partial<Record<LineageEvent["type"], string>>> = {
  COMPLETE: `${STATUS}CompletedActionStatus`,
  FAIL: `${STATUS}FailedActionStatus`,
  ABORT: `${STATUS}FailedActionStatus`,
};
const ACTIVE = `${STATUS}ActiveActionStatus`;

/**
 * A run as a computation. Events may come in any order and again: inputs and outputs accumulate,
 * and the latest end decides.
 */
function runChange(
  event: LineageEvent,
  run: NonNullable<LineageEvent["run"]>,
  job: Named,
  owner: string,
  software: string | undefined,
): LineageChange {
  const ark = runArk(owner, run.id);
  const { type, time } = event;
  const parent = run.facets["parent"];
  const parentId = isObject(parent) ? textIn(parent["run"], "runId") : undefined;
  const said = withoutUndefined({
    command: limited(textIn(job.facets["sql"], "query")),
    isPartOf:
      parentId !== undefined &&
      /^[0-9a-f-]{36}$/i.test(parentId) &&
      parentId.toLowerCase() !== run.id
        ? { "@id": runArk(owner, parentId.toLowerCase()) }
        : undefined,
    error: limited(textIn(run.facets["errorMessage"], "message")),
  });
  const arks = (datasets: readonly Named[]) => datasets.map((one) => datasetArk(owner, one));
  return {
    ark,
    kind: "computation",
    isRun: true,
    apply: (before) => {
      const document: JsonObject = before ?? {
        "@context": CONTEXT,
        "@id": ark,
        "@type": "evi:Computation",
        name: shortened(job.name),
        description:
          descriptionIn(job.facets) ??
          shortened(`Run ${run.id} of the job ${job.name} in ${job.namespace}.`, MAX_TEXT_CHARS),
        owner,
        identifier: `urn:uuid:${run.id}`,
      };
      const ended = textOf(document["dateFinished"]);
      const status = ownValue(ENDED, type);
      const end =
        status !== undefined && (ended === undefined || time >= ended)
          ? { dateFinished: time, actionStatus: status }
          : ended === undefined
            ? { actionStatus: ACTIVE }
            : {};
      const began = textOf(document["dateCreated"]);
      return {
        ...document,
        ...(type === "START" && (began === undefined || time < began) ? { dateCreated: time } : {}),
        ...end,
        ...said,
        usedSoftware: joined(document["usedSoftware"], software === undefined ? [] : [software]),
        usedDataset: joined(document["usedDataset"], arks(event.inputs)),
        generated: joined(document["generated"], arks(event.outputs)),
      };
    },
  };
}

const limited = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : shortened(text, MAX_TEXT_CHARS);
const descriptionIn = (facets: JsonObject): string | undefined =>
  limited(textIn(facets["documentation"], "description"));
const textOf = (value: JsonValue | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

/** The entries of a list and those that are new to it, each once. */
function joined(list: JsonValue | undefined, more: readonly string[]): JsonValue[] {
  const known = list === undefined || list === null ? [] : Array.isArray(list) ? list : [list];
  const seen = new Set(known);
  return [...known, ...new Set(more.filter((ark) => !seen.has(ark)))];
}

const withoutUndefined = (members: Record<string, JsonValue | undefined>): JsonObject =>
  Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );
