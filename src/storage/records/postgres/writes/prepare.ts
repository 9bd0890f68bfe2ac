import { setImmediate as turn } from "node:timers/promises";
import { ServiceError } from "../../../../errors.js";
import type { Link } from "../../../../model/kind.js";
import { respell } from "../../../../rdf/terms.js";
import { packQuads, unpackLinks, unpackQuads } from "../../codecs.js";
import type { Commit, ObjectReference, RecordWrite, SearchText } from "../../port.js";
import { isStorableText, keywordsOf, searchedTextOf } from "../../text.js";
import type { Analyzer } from "../search/vocabulary.js";
import { type Database, type Sending, StatementError, statement } from "../statement.js";
import { type Ledger, type Stating, states } from "./ledger.js";

/** Records that are prepared in one iteration of the event loop; about 10 ms. */
const AT_ONCE = 50;
const BYTES_AT_ONCE = 64 * 2 ** 10;
/**
 * Numbers of states taken from the database at a time; those left over at a stop are never used.
 */
const BATCH = 1000;

const NEXT_LOT = statement<[batch: number]>("SELECT nextval('state_lot')");

/** The stored form of one state of a record, made before its transaction begins. */
export interface Prepared {
  /** Number of its row. */
  state: number;
  kind: string;
  document: Uint8Array;
  quads: Uint8Array;
  text: SearchText;
  vector: string;
  stems: string[];
  keywords: string[];
}

/** How many of the writes are prepared together, by their number and by how much there is to do. */
function endOfTurn(writes: readonly Stating[], from: number): number {
  let bytes = 0;
  let at = from;
  while (at < writes.length && at - from < AT_ONCE && (at === from || bytes < BYTES_AT_ONCE))
    bytes += writes[at++]!.document.length;
  return at;
}

/** Packs and indexes records before the transaction that stores them. */
export class Preparation {
  #next = 1;
  #end = 0;

  readonly #database: Database;
  readonly #analyzer: Analyzer;

  constructor(database: Database, analyzer: Analyzer) {
    this.#database = database;
    this.#analyzer = analyzer;
  }

  /** By the write that states it. @throws StatementError when the database is unavailable */
  async of(commits: readonly Commit[]): Promise<Map<RecordWrite, Prepared>> {
    const writes = commits.flatMap(({ records }) => records).filter(states);
    const numbers = await this.#numbers(writes.length);
    const prepared = new Map<RecordWrite, Prepared>();
    for (let at = 0, next = 0; at < writes.length; at = next) {
      if (at > 0) await turn();
      next = endOfTurn(writes, at);
      const some = writes.slice(at, next);
      const texts = some.map(searchedTextOf);
      for (const [index, analysis] of this.#analyzer.analyze(texts).entries()) {
        const write = some[index]!;
        prepared.set(write, {
          state: numbers[at + index]!,
          kind: write.kind,
          document: write.document,
          quads: packQuads(write.quads),
          text: texts[index]!,
          ...analysis,
          keywords: keywordsOf(write),
        });
      }
    }
    return prepared;
  }

  async #numbers(count: number): Promise<number[]> {
    const numbers: number[] = [];
    while (numbers.length < count) {
      if (this.#next > this.#end) {
        const batch = (await this.#database.query(NEXT_LOT))[0]![0];
        this.#next = batch * BATCH;
        this.#end = this.#next + BATCH - 1;
      }
      while (numbers.length < count && this.#next <= this.#end) numbers.push(this.#next++);
    }
    return numbers;
  }
}

const PUT = statement("UPDATE state SET projected = $2 WHERE id = $1");
/**
 * Sources of links to records that have just come, where the link is spelled otherwise or the key
 * has several owners.
 */
const SOURCES = statement<
  [source: number, sequence: number]
>(`SELECT l.source, max(v.sequence) FROM unnest($1::text[], $2::text[], $3::int[], $4::bigint[]) AS
    v (key, ark, shares, sequence) JOIN link AS l ON l.target_key = v.key
    WHERE v.shares = 1 OR l.target <> v.ark GROUP BY l.source`);
const GRAPHS = statement<
  [record: number, state: number, quads: Uint8Array, projected: Uint8Array | null]
>(
  `SELECT r.id, s.id, s.quads, s.projected FROM record AS r JOIN state AS s ON s.id = r.state
    WHERE r.id = ANY($1::bigint[]) AND r.deleted_at IS NULL`,
);
const TARGETS = statement<[source: number, target: string, targetKey: string]>(
  "SELECT DISTINCT source, target, target_key FROM link WHERE source = ANY($1::bigint[])",
);
const OWNERS = statement<[key: string, ark: string]>(
  `SELECT DISTINCT r.key, r.ark FROM record AS r WHERE r.key IN (SELECT target_key FROM link
    WHERE source = ANY($1::bigint[]))`,
);

/** Sources whose links are spelled again at a time. */
const PROJECTED_AT_ONCE = 500;

/**
 * The graph as seen by the index: link targets spelled as the records that own their keys spell
 * them. It is always made from the quads as written, so that it is the same whichever record came
 * first. Run when all else is written.
 */
export async function project(sending: Sending, ledger: Ledger): Promise<void> {
  for (const record of ledger.byArk.values()) {
    const quads = ledger.quads.get(record.id);
    if (quads === undefined || record.deletedAt !== null) continue;
    const projected = respell(
      quads,
      spelling(ledger.links.get(record.id) ?? [], (key) => ledger.ownersOf(key)),
    );
    if (projected !== quads) void sending.send(PUT, [record.state, packQuads(projected)]);
  }
  await sending.breathe();
  if (ledger.arrived.length > 0) await projectWaiting(sending, ledger);
}

/**
 * Sources of earlier commits, whose links now have a target that is spelled otherwise: they are
 * changed, without a revision.
 */
async function projectWaiting(sending: Sending, ledger: Ledger): Promise<void> {
  const { arrived } = ledger;
  const found = await sending.send(SOURCES, [
    arrived.map(({ record }) => record.key),
    arrived.map(({ record }) => record.ark),
    arrived.map(({ sharesKey }) => (sharesKey ? 1 : 0)),
    arrived.map(({ sequence }) => sequence),
  ]);
  const sources = new Map(found.filter(([source]) => !ledger.quads.has(source)));
  const ids = [...sources.keys()];
  for (let at = 0; at < ids.length; at += PROJECTED_AT_ONCE) {
    const some = ids.slice(at, at + PROJECTED_AT_ONCE);
    const [graphs, targets, owned] = await Promise.all([
      sending.send(GRAPHS, [some]),
      sending.send(TARGETS, [some]),
      sending.send(OWNERS, [some]),
    ]);
    const owners = new Map<string, string[]>();
    for (const [key, ark] of owned) owners.set(key, [...(owners.get(key) ?? []), ark]);
    for (const [record, state, written, before] of graphs) {
      const quads = unpackQuads(written);
      const links = targets
        .filter(([source]) => source === record)
        .map(([, target, targetKey]) => ({ target, targetKey }));
      const now = respell(
        quads,
        spelling(links, (key) => owners.get(key) ?? []),
      );
      if (now === (before ? unpackQuads(before) : quads)) continue;
      void sending.send(PUT, [state, now === quads ? null : packQuads(now)]);
      ledger.log.push([sources.get(record)!, record]);
    }
    await sending.settle();
  }
}

/** As written → as owned. A key with several owners (members of one crate) is left as written. */
function spelling(
  links: readonly { target: string; targetKey: string }[],
  ownersOf: (key: string) => readonly string[],
): Map<string, string> {
  const spelled = new Map<string, string>();
  for (const { target, targetKey } of links) {
    const owners = ownersOf(targetKey);
    if (owners.length === 1 && owners[0] !== target) spelled.set(target, owners[0]!);
  }
  return spelled;
}

/** UTF-8 bytes of an identifier: the entry of an index holds no more than 2,700 bytes in all. */
const LONGEST_IDENTIFIER = 2_500;

/**
 * Checks all data of a commit, because many commits share one statement: a commit that cannot be
 * stored is refused before it joins the others.
 *
 * @throws StatementError `VALUE`; ServiceError `TOO_LARGE` for an identifier that no index holds
 */
export function checkCommit(commit: Commit): void {
  checkTexts("the commit", commit.by);
  checkNumbers(commit.at);
  for (const write of commit.records) checkWrite(write);
  const { account, uses, submission } = commit;
  if (account) {
    checkTexts(
      "the account",
      ...Object.values(account).filter((value) => typeof value === "string"),
    );
    if (account.op !== "delete" && account.spends)
      checkTexts("the setting", account.spends.name, account.spends.value);
  }
  if (uses) {
    checkIdentifiers(uses.crate);
    for (const ark of uses.arks) checkIdentifiers(ark);
    for (const ark of uses.released ?? []) checkIdentifiers(ark);
  }
  if (submission) checkTexts("the submission", submission.id, submission.rocrateIdentifier);
}

function checkWrite(write: RecordWrite): void {
  checkIdentifiers(write.ark);
  if (write.op === "delete") checkTexts(write.ark, write.reason, write.successor);
  else if (write.op === "publish")
    checkTexts(write.ark, write.embargoedUntil, write.reason, write.successor);
  else {
    checkIdentifiers(write.owner, write.crate, write.op === "create" ? write.key : undefined);
    checkTexts(
      write.ark,
      write.name,
      write.licence,
      typeof write.quads === "string" ? write.quads : null,
    );
    unpackLinks(write.links).forEach(checkLink);
    write.objects?.forEach(checkObject);
  }
}

function checkLink({ predicate, target, targetKey }: Link): void {
  checkTexts("a link", predicate);
  checkIdentifiers(target, targetKey);
}

function checkObject({ sha256, size, mediaType, name }: ObjectReference): void {
  checkTexts("an object", sha256, mediaType, name);
  checkNumbers(size);
}

function checkTexts(what: string, ...texts: (string | null | undefined)[]): void {
  for (const text of texts) {
    if (text !== null && text !== undefined && !isStorableText(text))
      throw new StatementError(
        "VALUE",
        `${what.toWellFormed().replaceAll("\0", "")}: text with NUL or a lone surrogate`,
      );
  }
}

function checkIdentifiers(...identifiers: (string | null | undefined)[]): void {
  for (const identifier of identifiers) {
    if (identifier === null || identifier === undefined) continue;
    checkTexts("an identifier", identifier);
    if (
      identifier.length * 3 > LONGEST_IDENTIFIER &&
      Buffer.byteLength(identifier) > LONGEST_IDENTIFIER
    ) {
      throw new ServiceError(
        "TOO_LARGE",
        `The identifier ${identifier.slice(0, 60)}… is longer than the ` +
          `${LONGEST_IDENTIFIER} bytes that the database can index; choose a shorter one.`,
      );
    }
  }
}

function checkNumbers(...numbers: number[]): void {
  for (const number of numbers)
    if (!Number.isSafeInteger(number))
      throw new StatementError("VALUE", `${number} is no whole number within 2^53`);
}
