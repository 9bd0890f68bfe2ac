import { afterEach, describe, expect, it } from "vitest";
import { PROVENANCE, type Direction, type ProvenanceName } from "../../../src/model/provenance.js";
import { impactOf, supportPath } from "../../../src/services/evidence/analysis.js";
import type { EvidenceRequest } from "../../../src/services/evidence/types.js";
import { arkFrom } from "../../support/arks.js";
import { type Dice, dice } from "../../support/dice.js";
import { edgesIn, EvidenceWorld, type Planned } from "../../support/evidence-world.js";
import { ark } from "../../support/quads.js";

const NAMES = Object.keys(PROVENANCE) as ProvenanceName[];
const RECORDS = 14;
const URL_OF = (name: string): string => `https://example.org/crate/${name}`;

/** Any number of relations among a few records, elsewhere, in a circle, and of a record to itself. */
function planned({ roll, of, once }: Dice): Planned {
  const name = (): string => `r${roll(RECORDS)}`;
  const target = (): string =>
    of([name, name, name, () => URL_OF(name()), () => "missing", () => `${name()}#genid-1`])();
  const edges: Partial<Record<ProvenanceName, string[]>> = {};
  for (let count = roll(4); count > 0; count--) {
    const property = of(NAMES);
    edges[property] = [...(edges[property] ?? []), target()];
  }
  return {
    edges,
    type: of(["evi:Dataset", "evi:Computation", "evi:Software"]),
    name: of(["plain", 'with "quotes", \\ and\ttabs', "ünïcode 𝛼", "line\nbreak"]),
    owner: of(["ada", "grace"]),
    ...(once(2) && { description: 'é"\\\n𝛼x'.repeat(roll(80)) }),
    ...(once(5) && { names: ["another", "<not an IRI>"], descriptions: ["zz", "aa"] }),
    ...(once(5) && { subject: URL_OF(name()), crate: ark(name()) }),
  };
}

interface PlainEdge {
  subject: string;
  text: string;
  supported: string;
  supporting: string;
}

/** The same questions answered from the plans alone, by a walk from step to step. */
class PlainWalk {
  readonly #live = new Map<string, Planned>();

  write(plan: Record<string, Planned>): void {
    for (const [name, each] of Object.entries(plan)) this.#live.set(name, each);
  }

  delete(name: string): void {
    this.#live.delete(name);
  }

  #edges(): PlainEdge[] {
    return [...this.#live].flatMap(([name, { subject = ark(name), edges = {} }]) =>
      (Object.entries(edges) as [ProvenanceName, string[]][]).flatMap(([property, targets]) =>
        targets.map(ark).map((target) => {
          const [supported, supporting] =
            PROVENANCE[property].support === "object" ? [subject, target] : [target, subject];
          const text = `${subject} ${property} ${target}`.replaceAll("ark:99999/", "");
          return { subject, text, supported, supporting };
        }),
      ),
    );
  }

  /** The names by which a record is known: an entity of a crate describes a URL. */
  #self(name: string): string[] {
    const { subject } = this.#live.get(name) ?? {};
    return subject === undefined ? [ark(name)] : [ark(name), subject];
  }

  /** Steps to each node, and the edges among these nodes and the record. */
  from(name: string, direction: Direction, depth: number) {
    const edges = this.#edges();
    const near = new Map<string, number>();
    for (const way of direction === "both" ? ["upstream", "downstream"] : [direction]) {
      const steps = new Map(this.#self(name).map((node) => [node, 0]));
      for (const [node, step] of steps) {
        near.set(node, Math.min(step, near.get(node) ?? step));
        if (step === depth) continue;
        for (const { supported, supporting } of edges) {
          const [here, next] =
            way === "upstream" ? [supported, supporting] : [supporting, supported];
          if (here === node && !steps.has(next)) steps.set(next, step + 1);
        }
      }
    }
    const among = edges.filter(
      ({ supported, supporting }) => near.has(supported) && near.has(supporting),
    );
    return { near, edges: among };
  }

  /** The name that evidence shows of a record: the first in order. */
  nameOf(name: string): string | undefined {
    const each = this.#live.get(name);
    if (!each || each.subject !== undefined) return undefined;
    return [each.name!, ...(each.names ?? [])].sort()[0];
  }

  has(name: string): boolean {
    return this.#live.has(name);
  }
}

describe("evidence of random records", () => {
  const worlds: EvidenceWorld[] = [];
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.engine.close();
  });

  it.each([1, 2, 3, 4, 5, 6])(
    "has the nodes and edges of a plain walk, through changes and deletions (%i)",
    async (seed) => {
      const random = dice(seed);
      const { roll, of, once } = random;
      const world = new EvidenceWorld();
      worlds.push(world);
      const plain = new PlainWalk();
      const write = (plan: Record<string, Planned>): void => {
        world.write(plan);
        plain.write(plan);
      };
      write(
        Object.fromEntries(Array.from({ length: RECORDS }, (_, i) => [`r${i}`, planned(random)])),
      );
      await world.open();
      for (let round = 0; round < 12; round++) {
        const change = `r${roll(RECORDS)}`;
        if (once(3)) {
          world.delete(change);
          plain.delete(change);
        } else write({ [change]: planned(random), [`r${roll(RECORDS)}`]: planned(random) });
        for (let asked = 0; asked < 4; asked++) {
          const name = `r${roll(RECORDS)}`;
          const direction: Direction = of(["upstream", "downstream", "both"]);
          const depth = once(3) ? 1 + roll(3) : Number.POSITIVE_INFINITY;
          const request: Partial<EvidenceRequest> = {
            direction,
            ...(depth < Number.POSITIVE_INFINITY && { depth }),
            ...(once(3) && { statements: true }),
          };
          if (!plain.has(name)) {
            await expect(world.ask(name, request)).rejects.toMatchObject({ code: "GONE" });
            continue;
          }
          const graph = await world.ask(name, request);
          const expected = plain.from(name, direction, depth);
          const shown = [...graph["@graph"], ...graph.dangling].map((node) => node["@id"]);
          expect([...shown].sort()).toEqual([...expected.near.keys()].sort());
          // An edge is shown at its subject, if something describes that.
          const dangling = new Set(graph.dangling.map((node) => node["@id"]));
          const stated = expected.edges.filter(({ subject }) => !dangling.has(subject));
          expect(edgesIn(graph).filter((edge) => !edge.includes(" sameAs "))).toEqual(
            [...new Set(stated.map(({ text }) => text))].sort(),
          );
          for (const node of graph["@graph"]) {
            const known = plain.nameOf(node["@id"].replace("ark:99999/", ""));
            if (known !== undefined) expect(node.name).toBe(known);
          }
        }
        const [one, other] = [`r${roll(RECORDS)}`, `r${roll(RECORDS)}`] as const;
        if (!plain.has(one) || !plain.has(other)) continue;
        const deps = { records: world.records, queries: world.engine };
        const { near } = plain.from(one, "downstream", Number.POSITIVE_INFINITY);
        const impact = await impactOf(arkFrom(ark(one)), deps);
        expect(impact.furthest).toBeLessThanOrEqual(Math.max(...near.values()));
        const up = plain.from(one, "upstream", Number.POSITIVE_INFINITY).near.get(ark(other));
        const path = await supportPath(arkFrom(ark(one)), arkFrom(ark(other)), deps);
        if (up !== undefined) expect(path.length).toBeLessThanOrEqual(up);
      }
    },
  );
});
