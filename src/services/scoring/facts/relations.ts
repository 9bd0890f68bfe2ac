import { eventLoop } from "../../../event-loop-budget.js";
import { arkKey } from "../../../identifiers/ark.js";
import type { JsonObject } from "../../../model/field.js";
import { referencesIn } from "../../../model/field.js";
import type { KindName } from "../../../model/kind.js";
import { KINDS } from "../../../model/kinds.js";
import { ACTIVITY_SUBJECT, ANY_SUBJECT } from "../../../model/provenance.js";
import type { FoundLink, RecordStore, StoredRecord } from "../../../storage/records/port.js";
import { type CrateFacts, MAX_EVIDENCE } from "./fields.js";
import type { Member } from "./survey.js";
import { pairs } from "../../../pairs.js";
import { getOrInsert } from "../../../get-or-insert.js";

/**
 * Records whose links are read at a time, and links of each; for records with more links the rest
 * is read one by one.
 */
const SOURCES = 100;
const SOURCES_READ_TOGETHER = 50;
const MANY = 1000;

const named = (...names: string[]): ReadonlySet<string> =>
  new Set(names.map((name) => `evi:${name}`));
const INPUTS = named(
  "used",
  "usedDataset",
  "usedSample",
  "usedInstrument",
  "usedStain",
  "usedTreatment",
  "usedReagent",
  "usedMLModel",
  "derivedFrom",
);
/** Stated by the input. */
const INPUTS_OF = named(
  "usedBy",
  "datasetUsedBy",
  "sampleUsedBy",
  "instrumentUsedBy",
  "reagentUsedBy",
  "mlModelUsedBy",
  "softwareUsedBy",
);
const ORIGINS = named("generatedBy", "derivedFrom");

/** The references of a computation, and how many of them lead to no record. */
interface Run {
  inputs: number;
  outputs: number;
  programs: number;
  lost: number;
  lostPrograms: number;
}
/** A reference that leads to no record. */
interface Dangling {
  source: string;
  target: string;
}

/** Follows the statements of a crate's records about each other. */
export class Relations {
  readonly #runs = new Map<string, Run>();
  readonly #parts = new Map<string, string[]>();
  /** Keys of software, with the place where a computation that used it names its environment. */
  readonly #environments = new Map<string, string>();
  /** The first few. */
  readonly dangling: Dangling[] = [];

  readonly #records: Pick<RecordStore, "linksFrom">;
  readonly #members: ReadonlyMap<string, Member>;
  readonly #outside: Outside;
  readonly #breather: Breather;

  /** @param members by identity key */
  constructor(
    records: Pick<RecordStore, "linksFrom">,
    members: ReadonlyMap<string, Member>,
    outside: Outside,
    breather: Breather,
  ) {
    this.#records = records;
    this.#members = members;
    this.#outside = outside;
    this.#breather = breather;
  }

  /** Reads the links of these members. Returns other crates that hold parts of this one. */
  async follow(facts: CrateFacts, keys: readonly string[]): Promise<string[]> {
    const crates = new Set<string>();
    for (let start = 0; start < keys.length; start += SOURCES) {
      const batch = keys.slice(start, start + SOURCES);
      const members = batch.flatMap((key) => this.#members.get(key) ?? []);
      const pages = await this.#records.linksFrom(
        members.map(({ ark }) => ark),
        { limit: SOURCES_READ_TOGETHER },
      );
      for (const [member, first] of pairs(members, pages)) {
        await this.#add(facts, member, first.items, crates);
        for (let after = first.next; after !== undefined;) {
          const [page] = await this.#records.linksFrom([member.ark], { after, limit: MANY });
          await this.#add(facts, member, page?.items ?? [], crates);
          after = page?.next;
        }
      }
    }
    return [...crates];
  }

  /**
   * Follows references by URL to entities that have records of their own here; references to other
   * resources are ignored.
   */
  async followUrls(links: readonly UrlLink[], urls: ReadonlyMap<string, string>): Promise<void> {
    for (const { key, predicate, url } of links) {
      const source = this.#members.get(key);
      const targetKey = urls.get(url);
      const target = targetKey === undefined ? undefined : this.#members.get(targetKey);
      if (source && target) this.#note(source, { predicate, targetKey: target.key }, target.kind);
      await this.#breather.pause();
    }
  }

  async #add(
    facts: CrateFacts,
    source: Member,
    links: readonly FoundLink[],
    crates: Set<string>,
  ): Promise<void> {
    await this.#outside.look(
      links.filter(({ targetKey }) => !this.#members.has(targetKey)).map(({ target }) => target),
    );
    // One reference may state several links.
    const noted = new Set<string>();
    for (const link of links) {
      const found = this.#members.get(link.targetKey) ?? this.#outside.of(link.targetKey);
      if (!noted.has(link.targetKey)) {
        noted.add(link.targetKey);
        facts.references.total++;
        if (found) facts.references.good++;
        else if (this.dangling.length < MAX_EVIDENCE)
          this.dangling.push({ source: link.source, target: link.target });
      }
      if (
        link.predicate === "schema:hasPart" &&
        found?.kind === "rocrate" &&
        !this.#members.has(link.targetKey)
      )
        crates.add(found.ark);
      this.#note(source, link, found?.kind);
    }
    await this.#breather.pause();
  }

  /** @param kind that of the target, where it exists */
  #note(
    source: Member,
    { predicate, targetKey }: Pick<FoundLink, "predicate" | "targetKey">,
    kind: Member["kind"] | undefined,
  ): void {
    if (predicate === "schema:hasPart" && kind !== undefined)
      this.#part(source.key, this.#members.get(targetKey)?.key ?? targetKey);
    if (predicate === "schema:isPartOf" && kind !== undefined)
      this.#part(this.#members.get(targetKey)?.key ?? targetKey, source.key);
    if (ORIGINS.has(predicate)) source.sourced = true;
    if (KINDS[source.kind].activity) return this.#noteRun(source, predicate, targetKey, kind);
    // The same, stated from the other end.
    const target = this.#members.get(targetKey);
    if (!target || !KINDS[target.kind].activity) return;
    const run = this.#runOf(targetKey);
    if (predicate === "evi:generatedBy") run.outputs++;
    else if (INPUTS_OF.has(predicate) && source.kind === "software") run.programs++;
    else if (INPUTS_OF.has(predicate)) run.inputs++;
  }

  /** What a run states of what it used and generated. */
  #noteRun(
    source: Member,
    predicate: string,
    targetKey: string,
    kind: Member["kind"] | undefined,
  ): void {
    const run = this.#runOf(source.key);
    const exists = kind !== undefined;
    if (predicate === "evi:generated") {
      run[exists ? "outputs" : "lost"]++;
      const made = this.#members.get(targetKey);
      if (made) made.sourced = true;
    } else if (
      predicate === "evi:usedSoftware" ||
      (predicate === "evi:used" && kind === "software")
    ) {
      run[exists ? "programs" : "lostPrograms"]++;
      if (source.environment !== undefined) this.#environments.set(targetKey, source.environment);
    } else if (INPUTS.has(predicate)) run[exists ? "inputs" : "lost"]++;
  }

  #runOf(key: string): Run {
    return getOrInsert(this.#runs, key, () => ({
      inputs: 0,
      outputs: 0,
      programs: 0,
      lost: 0,
      lostPrograms: 0,
    }));
  }

  #part(whole: string, part: string): void {
    getOrInsert(this.#parts, whole, (): string[] => []).push(part);
  }

  /** Facts that are known only after all records are read. */
  async conclude(facts: CrateFacts, root: string): Promise<void> {
    const reached = new Set([root]);
    for (const whole of reached) for (const part of this.#parts.get(whole) ?? []) reached.add(part);
    // A step of a workflow is located where the file is that holds it.
    const held = new Set(
      [...this.#parts].flatMap(([whole, parts]) =>
        typeof this.#members.get(whole)?.location === "string" ? parts : [],
      ),
    );
    for (const [key, member] of this.#members) {
      const { ark, kind, sourced, table, isData, isPart } = member;
      const place = `${ark}#`;
      this.#concludeRun(facts, key, member);
      if (kind === "software") this.#concludeSoftware(facts, key, member, held);
      if (isData) facts.sourced.add(sourced, place);
      if (isPart || (kind === "rocrate" && key !== root))
        facts.reached.add(reached.has(key), place);
      if (table) facts.structured.add(this.#hasSchema(table.schema), table.place);
      await this.#breather.pause();
    }
  }

  #concludeRun(facts: CrateFacts, key: string, { ark, run }: Member): void {
    if (!run) return;
    const { inputs, outputs, programs, lost, lostPrograms } = this.#runOf(key);
    facts.traced.add(inputs > 0 && outputs > 0 && lost === 0, `${ark}#`);
    if (run === "computation") facts.programmed.add(programs > 0 && lostPrograms === 0, `${ark}#`);
  }

  /** @param held parts of what is located */
  #concludeSoftware(
    facts: CrateFacts,
    key: string,
    { ark, location, environment = this.#environments.get(key) }: Member,
    held: ReadonlySet<string>,
  ): void {
    const place = `${ark}#`;
    facts.located.add(typeof location === "string" || held.has(key), location ?? place);
    facts.portable.add(environment !== undefined, environment ?? place);
  }

  /** @param schema key of the schema of a table; true: the table has one of its own */
  #hasSchema(schema: string | true | undefined): boolean {
    if (schema === undefined || schema === true) return schema === true;
    return (this.#members.get(schema) ?? this.#outside.of(schema))?.kind === "schema";
  }
}

/** Records in one read. */
const BATCH = 100;

/** The target of a reference. */
interface Found {
  ark: string;
  kind: KindName;
  isLive: boolean;
}

/** Text that differs after every change of a record; `-` for a record that is not stored. */
const stateOfRecord = (record: StoredRecord | undefined): string =>
  record ? `${record.revision}${record.tombstone ? "x" : ""}` : "-";

/** States of records, in the requested order. */
export async function statesOf(
  records: Pick<RecordStore, "findMany">,
  arks: readonly string[],
  breather: Breather,
): Promise<string[]> {
  const states: string[] = [];
  for (let start = 0; start < arks.length; start += BATCH) {
    for (const record of await records.findMany(arks.slice(start, start + BATCH)))
      states.push(stateOfRecord(record));
    await breather.pause();
  }
  return states;
}

/** Records outside a crate that it refers to: looked up once each, and cached with their state. */
export class Outside {
  readonly #known = new Map<string, Found | undefined>();
  /** ARK as requested → state; the score depends on these. */
  readonly states = new Map<string, string>();

  readonly #records: Pick<RecordStore, "findMany">;
  readonly #breather: Breather;

  constructor(records: Pick<RecordStore, "findMany">, breather: Breather) {
    this.#records = records;
    this.#breather = breather;
  }

  get size(): number {
    return this.states.size;
  }

  /** Looks up the records that are not known yet. */
  async look(arks: Iterable<string>): Promise<(StoredRecord | undefined)[]> {
    const wanted = [...new Map([...arks].map((ark) => [arkKey(ark), ark])).entries()].filter(
      ([key]) => !this.#known.has(key),
    );
    const found: (StoredRecord | undefined)[] = [];
    for (let start = 0; start < wanted.length; start += BATCH) {
      const batch = wanted.slice(start, start + BATCH);
      const records = await this.#records.findMany(batch.map(([, ark]) => ark));
      for (const [[key, ark], record] of pairs(batch, records)) {
        this.#known.set(
          key,
          record && { ark: record.ark, kind: record.kind, isLive: record.tombstone === null },
        );
        this.states.set(ark, stateOfRecord(record));
        found.push(record);
      }
      await this.#breather.pause();
    }
    return found;
  }

  /** The target of an identifier that was looked up, if it is live. */
  of(key: string): Found | undefined {
    const found = this.#known.get(key);
    return found?.isLive ? found : undefined;
  }
}

/** A reference by URL: an entity with a URL in its crate has a record under its own identifier. */
export interface UrlLink {
  /** Of the record that refers. */ key: string;
  predicate: string;
  url: string;
}

const PREFIXES = [
  "",
  "evi:",
  "EVI:",
  "schema:",
  "prov:",
  "http://schema.org/",
  "https://schema.org/",
];
const NAMES: readonly [name: string, predicate: string][] = [
  ...[...ANY_SUBJECT, ...ACTIVITY_SUBJECT].map(([iri, name]): [string, string] => [
    iri.replace(/^.*[/#]/, ""),
    `evi:${name}`,
  ]),
  ["hasPart", "schema:hasPart"],
  ["isPartOf", "schema:isPartOf"],
];
/** Fields that state links, as crates spell them: fields of provenance, and lists of parts. */
const STATED = new Map(
  NAMES.flatMap(([name, predicate]) =>
    PREFIXES.map((prefix) => [prefix + name, predicate] as const),
  ),
);

/** References of a record by URL. */
export function urlLinks(key: string, document: JsonObject): UrlLink[] {
  return Object.entries(document).flatMap(([field, value]) => {
    const predicate = STATED.get(field);
    return predicate === undefined
      ? []
      : referencesIn(value)
          .filter((text) => /^https?:\/\//.test(text))
          .map((url) => ({ key, predicate, url }));
  });
}

/** Longest work between two turns of the event loop, in ms. */
const STRETCH = 10;

/** Lets other code run while many records are processed. */
export class Breather {
  #since = performance.now();

  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** @throws the signal's reason */
  async pause(): Promise<void> {
    if (performance.now() - this.#since < STRETCH) return;
    await eventLoop.nextTurn();
    this.#signal.throwIfAborted();
    this.#since = performance.now();
  }
}
