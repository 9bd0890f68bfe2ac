import { describe, expect, it } from "vitest";
import type { CrateLimits } from "../../../src/services/crates/upload.js";
import {
  type Entity,
  type Json,
  metadata,
  RO_CRATE,
  withoutDescriptors,
} from "../../support/crates.js";
import { illFormed, ingestHere, type Taken } from "../../support/intake-here.js";
import { plainZip } from "../../support/plain-zip.js";

/**
 * ms; each takes under 6 s alone on two cores, and minutes where a step takes the square of its
 * input.
 */
const BOUND = 20_000;
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const inside = (depth: number, innermost: Json, wrap: (inner: Json, level: number) => Json): Json =>
  times(depth, (level) => level).reduce(wrap, innermost);
const person = (id: string, more: Entity = {}): Entity => ({
  "@id": id,
  "@type": "Person",
  ...more,
});
const DEFAULTS: Partial<CrateLimits> = {
  MAX_CRATE_ENTRIES: 200_000,
  MAX_METADATA_BYTES: 256 * 2 ** 20,
  MAX_ENTITY_BYTES: 16 * 2 ** 20,
};

async function taken(
  input: Entity | Buffer,
  limits: Partial<CrateLimits> = {},
): Promise<Taken & { codes: string[] }> {
  const before = process.cpuUsage();
  const answer = await ingestHere(
    Buffer.isBuffer(input) ? input : Buffer.from(JSON.stringify(input)),
    { format: Buffer.isBuffer(input) ? "zip" : "metadata", limits: { ...DEFAULTS, ...limits } },
  );
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(BOUND);
  expect(illFormed(answer)).toBeUndefined();
  return {
    ...answer,
    codes:
      "errors" in answer.result
        ? answer.result.errors.map(
            ({ code, message }) => (expect(message).toMatch(/MAX_[A-Z_]+=\d+/), code),
          )
        : [],
  };
}
const scoped = (name: string, context: Json): Json[] => [
  RO_CRATE,
  { [name]: { "@id": `https://example.org/${name}`, "@context": context } },
];
const term = (index: number): Entity => ({ [`t${index}`]: `https://example.org/${index}` });

describe("metadata that costs more than its size shows is refused in seconds", () => {
  it.each<[string, string, () => Entity]>([
    [
      "30,000 contexts, two in turn",
      "TOO_MANY_CONTEXTS",
      () =>
        metadata(
          [],
          {},
          times(30_000, (n) => (n % 2 ? RO_CRATE : "https://w3id.org/ro/crate/1.2/context")),
        ),
    ],
    [
      "30,000 small contexts",
      "TOO_MANY_CONTEXTS",
      () => metadata([], {}, [RO_CRATE, ...times(30_000, term)]),
    ],
    [
      "contexts in lists in lists",
      "TOO_MANY_CONTEXTS",
      () =>
        metadata(
          [],
          {},
          inside(13, RO_CRATE, (part, level) => [part, term(level), part]),
        ),
    ],
    [
      "20,000 entities with a context each",
      "TOO_MANY_CONTEXTS",
      () => metadata(times(20_000, (n) => person(`#${n}`, { "@context": term(n) }))),
    ],
    [
      "one entity with 5,000 contexts, one in each description",
      "TOO_MANY_CONTEXTS",
      () => metadata(times(5000, (n) => person("#x", { "@context": term(n) }))),
    ],
    [
      "3,000 nodes with a context each",
      "TOO_MANY_CONTEXTS",
      () =>
        metadata([
          person("#x", {
            knows: times(3000, (n) => ({ "@context": [RO_CRATE, term(n)], name: "x" })),
          }),
        ]),
    ],
    [
      "3,000 imports",
      "TOO_MANY_CONTEXTS",
      () =>
        metadata(
          [],
          {},
          times(3000, () => ({ "@import": RO_CRATE })),
        ),
    ],
    [
      "a property with a context, inside itself",
      "TOO_MANY_CONTEXTS",
      () =>
        metadata(
          [person("#x", { p: inside(150, "end", (p) => ({ p })) })],
          {},
          scoped("p", times(100, term)),
        ),
    ],
    [
      "a type with a context, on 3,000 entities",
      "TOO_MANY_CONTEXTS",
      () =>
        metadata(
          times(3000, (n) => ({ "@id": `#${n}`, "@type": "T" })),
          {},
          scoped("T", term(0)),
        ),
    ],
    [
      "a type with a context, around 3,000 nodes",
      "TOO_MANY_CONTEXTS",
      () =>
        metadata(
          [{ "@id": "#x", "@type": "T", knows: times(3000, () => ({ name: "x" })) }],
          {},
          scoped("T", term(0)),
        ),
    ],
    [
      "20,000 terms, with 1,000 entities",
      "TOO_MANY_TERMS",
      () =>
        metadata(
          times(1000, (n) => person(`#${n}`)),
          {},
          [RO_CRATE, Object.assign({}, ...times(20_000, term)) as Entity],
        ),
    ],
    [
      "100,000 terms",
      "TOO_MANY_TERMS",
      () => metadata([], {}, [RO_CRATE, Object.assign({}, ...times(100_000, term)) as Entity]),
    ],
    [
      "500,000 references in one property",
      "TOO_MANY_REFERENCES",
      () => metadata([], { mentions: times(500_000, (n) => ({ "@id": `#${n}` })) }),
    ],
    [
      "500,000 texts in one property",
      "TOO_MANY_REFERENCES",
      () => metadata([], { hasPart: times(500_000, (n) => `#${n}`) }),
    ],
    [
      "300,000 references in a list",
      "TOO_MANY_REFERENCES",
      () =>
        metadata([
          person("#x", { knows: { "@list": times(300_000, (n) => ({ "@id": `#${n}` })) } }),
        ]),
    ],
    [
      "100,001 types",
      "TOO_MANY_REFERENCES",
      () => metadata([{ "@id": "#x", "@type": times(100_001, (n) => `T${n}`) }]),
    ],
    [
      "entities inside one another",
      "NESTED_ENTITIES",
      () =>
        metadata(
          times(
            500,
            (n) =>
              inside(180, { "@id": `#l${n}` }, (knows, level) =>
                person(`#${n}-${level}`, { knows }),
              ) as Entity,
          ),
        ),
    ],
    [
      "a context of 20,000 bytes in each of 60,000 records",
      "RECORDS_TOO_LARGE",
      () =>
        metadata(
          times(60_000, (n) => person(`#${n}`)),
          {},
          [RO_CRATE, { a: `https://example.org/${"a".repeat(20_000)}` }],
        ),
    ],
  ])(
    "%s",
    async (_does, code, make) => {
      expect(
        (
          await taken(
            make(),
            code === "RECORDS_TOO_LARGE" ? { MAX_CRATE_RECORD_BYTES: 40 * 2 ** 20 } : {},
          )
        ).codes,
      ).toEqual([code]);
    },
    600_000,
  );
});

it(
  "an archive with more contexts in its nested crates than MAX_CRATE_CONTEXTS is refused in " +
    "seconds",
  async () => {
    const nested = times(
      2000,
      (n) =>
        [
          `d${n}/ro-crate-metadata.json`,
          JSON.stringify(metadata([], {}, [RO_CRATE, term(n)])),
        ] as const,
    );
    expect(
      (await taken(plainZip([["ro-crate-metadata.json", JSON.stringify(metadata())], ...nested])))
        .codes,
    ).toEqual(["TOO_MANY_CONTEXTS"]);
  },
  60_000,
);

describe("metadata that is merely long is ingested in seconds", () => {
  it.each<[string, () => Entity | Buffer, number]>([
    [
      "a context that is repeated 30,000 times",
      () =>
        metadata(
          [],
          {},
          times(30_000, () => RO_CRATE),
        ),
      1,
    ],
    [
      "a context of their own in 5,000 entities, the same in all",
      () => metadata(times(5000, (n) => person(`#${n}`, { "@context": [RO_CRATE, term(0)] }))),
      5001,
    ],
    [
      "a context in place of the crate's in 3,000 entities",
      () =>
        metadata(times(3000, (n) => person(`#${n}`, { "@context": [null, RO_CRATE, term(0)] }))),
      3001,
    ],
    [
      "a root with 8,000 parts",
      () =>
        metadata(
          times(8000, (n) => person(`#${n}`)),
          { hasPart: times(8000, (n) => ({ "@id": `#${n}` })) },
        ),
      8001,
    ],
    [
      "a root with 100,000 parts, of which none is described",
      () => metadata([], { hasPart: times(100_000, (n) => ({ "@id": `#${n}` })) }),
      1,
    ],
    [
      "one entity that is described 50,000 times",
      () => metadata(times(50_000, (n) => person("#x", { name: `n${n}`, [`k${n % 100}`]: n }))),
      2,
    ],
    [
      "parts in a circle",
      () =>
        metadata(
          times(5000, (n) => ({
            "@id": `#${n}`,
            "@type": "Dataset",
            hasPart: [{ "@id": `#${(n + 1) % 5000}` }, { "@id": "./" }],
          })),
        ),
      5001,
    ],
    [
      "a descriptor of 50,000 crates that are not there",
      () => ({
        "@context": RO_CRATE,
        "@graph": [
          {
            "@id": "ro-crate-metadata.json",
            about: [...times(50_000, (n) => ({ "@id": `q${n}` })), { "@id": "./" }],
          },
          ...times(20_000, (n) => person(`#${n}`)),
          { "@id": "./", "@type": "Dataset" },
        ],
      }),
      20_001,
    ],
    [
      "identifiers of a million slashes and dots",
      () =>
        metadata(
          [
            person(`a${"/".repeat(1e6)}b`),
            person(`a${".".repeat(1e6)}b`),
            person(`./${"./".repeat(2e5)}x`),
          ],
          { mentions: [{ "@id": `a${"/".repeat(1e6)}b` }] },
        ),
      4,
    ],
    [
      "2,000 entities with a member that breaks JSON-LD",
      () => metadata(times(2000, (n) => person(`#${n}`, { a: { "@value": [1], "@type": "x" } }))),
      2001,
    ],
    [
      "an entity with 2,000 members that break JSON-LD",
      () =>
        metadata([
          person("#x", Object.fromEntries(times(2000, (n) => [`k${n}`, { "@value": { a: 1 } }]))),
        ]),
      2,
    ],
    [
      "100,000 empty members",
      () =>
        plainZip([
          ["ro-crate-metadata.json", JSON.stringify(metadata())],
          ...times(100_000, (n) => [`f${n}`, ""] as const),
        ]),
      1,
    ],
    [
      "20,000 folders within 450 others",
      () =>
        plainZip([
          ["ro-crate-metadata.json", JSON.stringify(metadata())],
          ...times(20_000, (n) => [`${n}/${"a/".repeat(450)}f`, ""] as const),
        ]),
      1,
    ],
    [
      "5,000 nested crates",
      () =>
        plainZip([
          ["ro-crate-metadata.json", JSON.stringify(metadata())],
          ...times(
            5000,
            (n) => [`d${n}/ro-crate-metadata.json`, JSON.stringify(metadata())] as const,
          ),
        ]),
      5001,
    ],
  ])(
    "%s",
    async (_does, make, count) => {
      const { codes, records } = await taken(make());
      expect(codes).toEqual([]);
      expect(withoutDescriptors(records)).toHaveLength(count);
    },
    600_000,
  );
});
