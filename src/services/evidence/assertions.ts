import { arkKey } from "../../identifiers/ark.js";
import { PROVENANCE } from "../../model/provenance.js";
import { actsFor, ownersOf } from "../access/rules.js";
import { type Asking, holderOf, recordsOfUrls } from "./descriptions.js";
import { type Edge, type Net, type OneWay, supportOf } from "./net.js";
import type { Assertion, Direction, EvidenceDeps } from "./types.js";

/** The record that the evidence is about, by its ARK and by the URLs that its crate uses for it. */
export interface Subject {
  root: string;
  aliases: readonly string[];
}
/** Nodes in one query for owners. */
const BATCH = 2_000;
/** Edges that are processed before other requests may run. */
const EDGES = 10_000;

/**
 * Determines who states each edge. The owner of the record that states an edge has a right over a
 * node when the record is the node's own, when both have one owner, or when that owner may change
 * the node's record as a member or owner of the group, organization or project that owns it.
 */
export class Assertions {
  /** Records that are about a URL. */
  readonly #ofUrls = new Map<string, string[]>();
  /** By record; `undefined` where nothing is stored. */
  readonly #owners = new Map<string, string | null | undefined>();
  readonly #rights = new Map<string, boolean>();

  readonly #ask: Asking;
  readonly #records: EvidenceDeps["records"];
  readonly #subject: Subject;

  constructor(ask: Asking, records: EvidenceDeps["records"], subject: Subject) {
    this.#ask = ask;
    this.#records = records;
    this.#subject = subject;
  }

  /**
   * In the order of the edges.
   * @param near which end of an edge the walk comes from
   */
  async of(edges: readonly Edge[], near: (edge: Edge) => string): Promise<Assertion[]> {
    if (edges.length === 0) return [];
    await this.#learn(edges);
    const found: Assertion[] = [];
    for (const edge of edges) {
      const { subject, object, graph } = edge;
      const ownsSource = this.#owns(graph, subject);
      const ownsTarget = this.#owns(graph, object);
      const thirdParty = !(near(edge) === subject ? ownsSource : ownsTarget);
      found.push({
        record: graph,
        owner: this.#owners.get(graph) ?? null,
        ownsSource,
        ownsTarget,
        thirdParty,
      });
    }
    return found;
  }

  /** Removes the edges of third parties from a net; returns them. */
  async dropThirdParties(net: Net, near: (edge: Edge) => string): Promise<Edge[]> {
    const dropped: Edge[] = [];
    const places = new Set<number>();
    let place = 0;
    let batch: Edge[] = [];
    const decide = async (): Promise<void> => {
      const claims = await this.of(batch, near);
      for (const [index, { thirdParty }] of claims.entries()) {
        if (!thirdParty) continue;
        places.add(place + index);
        dropped.push(batch[index]!);
      }
      place += batch.length;
      batch = [];
    };
    for (const edge of net.edges()) if (batch.push(edge) === EDGES) await decide();
    await decide();
    net.drop(places);
    return dropped;
  }

  async #learn(edges: readonly Edge[]): Promise<void> {
    const urls = new Set<string>();
    const isNew = (end: string): boolean =>
      !end.startsWith("ark:") && this.#homeOf(end) === undefined && !this.#ofUrls.has(end);
    for (const { subject, object } of edges) {
      if (isNew(subject)) urls.add(subject);
      if (isNew(object)) urls.add(object);
    }
    for (const url of urls) this.#ofUrls.set(url, []);
    for (const [url, record] of await recordsOfUrls(this.#ask, [...urls]))
      this.#ofUrls.get(url)!.push(record);

    const records = new Set([this.#subject.root]);
    for (const url of urls) for (const record of this.#ofUrls.get(url)!) records.add(record);
    for (const { subject, object, graph } of edges) {
      records
        .add(graph)
        .add(this.#homeOf(subject) ?? graph)
        .add(this.#homeOf(object) ?? graph);
    }
    const asked = [...records].filter((record) => !this.#owners.has(record));
    for (let start = 0; start < asked.length; start += BATCH) {
      const some = asked.slice(start, start + BATCH);
      for (const [index, owner] of (await ownersOf(this.#records, some)).entries())
        this.#owners.set(some[index]!, owner);
    }
    await this.#settle(edges);
  }

  /**
   * The record that a node is, or is part of; `undefined` for a URL, which any number of records
   * may be about.
   */
  #homeOf(node: string): string | undefined {
    if (node.startsWith("ark:")) return holderOf(node) ?? node;
    return this.#subject.aliases.includes(node) ? this.#subject.root : undefined;
  }

  /**
   * Owners of the records that a node stands for; the empty string where a record has none. If
   * several owners describe a node and the requested record's owner is one of them, only that owner
   * counts: anybody can describe a URL.
   */
  #ownersOf(node: string): string[] {
    const home = this.#homeOf(node);
    const records = home === undefined ? (this.#ofUrls.get(node) ?? []) : [home];
    const owners = new Set<string>();
    for (const record of records) {
      const owner = this.#owners.get(record);
      if (owner !== undefined) owners.add(owner ?? "");
    }
    const own = this.#owners.get(this.#subject.root) ?? "";
    return owners.size > 1 && owners.has(own) ? [own] : [...owners];
  }

  /** Looks up members of groups where two owners differ: each pair once. */
  async #settle(edges: readonly Edge[]): Promise<void> {
    for (const { subject, object, graph } of edges) {
      const user = this.#owners.get(graph);
      if (user === undefined || user === null) continue;
      for (const end of [subject, object]) {
        if (this.#isPlainlyOwned(user, end)) continue;
        for (const owner of this.#ownersOf(end)) {
          if (owner === "" || owner === user || this.#rights.has(`${user} ${owner}`)) continue;
          this.#rights.set(
            `${user} ${owner}`,
            arkKey(user) === arkKey(owner) || (await actsFor(this.#records, { user }, owner)),
          );
        }
      }
    }
  }

  /** Whether the node is a record with this owner, as most are. */
  #isPlainlyOwned(user: string | null, node: string): boolean {
    const home = this.#homeOf(node);
    return home !== undefined && this.#owners.get(home) === user;
  }

  #owns(graph: string, node: string): boolean {
    const user = this.#owners.get(graph);
    if (user === undefined) return false;
    if (this.#isPlainlyOwned(user, node)) return true;
    return this.#ownersOf(node).some(
      (owner) => owner === (user ?? "") || this.#rights.get(`${user} ${owner}`) === true,
    );
  }
}

/**
 * The end of an edge that a walk comes from: the supported end upstream, the supporting end
 * downstream, and for both directions the nearer end.
 * @param distance steps of a node from the requested record, for both directions
 */
export function nearEnd(
  direction: Direction,
  distance: (node: string) => number,
): (edge: Edge) => string {
  if (direction !== "both") return (edge) => nearOn(direction, edge);
  return (edge) => {
    const [supported, supporting] = supportOf(edge);
    return distance(supporting) < distance(supported) ? supporting : supported;
  };
}

const nearOn = (way: OneWay, { subject, name, object }: Edge): string =>
  (PROVENANCE[name].support === "object") === (way === "upstream") ? subject : object;
