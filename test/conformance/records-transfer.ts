import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { arkKey } from "../../src/identifiers/ark.js";
import { openRecordsDigester } from "../../src/storage/graph/oxigraph/index.js";
import type { LeaseStore, RecordStore } from "../../src/storage/records/port.js";
import {
  TRANSFER,
  TRANSFER_TABLES,
  type TransferChunk,
  TransferRefused,
  type TransferTable,
  type RecordsTransfer,
} from "../../src/storage/records/transfer-port.js";
import { commitOf, create, linkTo, OWNER, remove, replace, write } from "./records/fixtures.js";
import { arkFrom } from "../support/arks.js";
import { AS_CREATED } from "../../src/services/records/pages.js";

/** A place for a truth, empty at first. */
export interface Place {
  store(): Promise<RecordStore & LeaseStore>;
  transfer(options: { make: boolean }): Promise<RecordsTransfer>;
  destroy(): Promise<void>;
}
export type NewPlace = () => Promise<Place>;

const sha = (digit: string): string => digit.repeat(64);
const A = "ark:99999/a";
const CRATE = "ark:99999/crate";

/** Something of everything that a truth may hold. */
export async function fill(place: Place): Promise<void> {
  const store = await place.store();
  const object = (digit: string, role: "content" | "member" = "content") => ({
    sha256: sha(digit),
    size: 3,
    mediaType: "text/plain",
    name: `${digit}.txt`,
    role,
  });
  await store.setSetting("admin-token", "a hash");
  await store.commit(
    commitOf([create(OWNER, { kind: "user", name: "Ann", owner: null })], {
      account: {
        op: "create",
        user: OWNER,
        email: "ann@example.org",
        passwordHash: "$argon2id$a",
        admin: true,
      },
    }),
  );
  await store.commit(
    commitOf([create("ark:99999/user-bob", { kind: "user", name: "Bob", owner: null })], {
      account: {
        op: "create",
        user: "ark:99999/user-bob",
        email: "bob@example.org",
        passwordHash: "$argon2id$b",
        admin: false,
      },
    }),
  );
  await store.commit(
    commitOf([remove("ark:99999/user-bob", 1)], {
      account: { op: "delete", user: "ark:99999/user-bob" },
    }),
  );
  await store.commit(
    commitOf([], { account: { op: "update", user: OWNER, tokensValidFrom: 1_700_000_000_000 } }),
  );
  await store.noteSignIn(OWNER, 1_700_000_000_001);
  await store.storeCredential(
    {
      hash: "c".repeat(64),
      id: "laptop",
      user: OWNER,
      purpose: "token",
      name: "Ann's \u{1F9EC} laptop",
      createdAt: 1_700_000_000_002,
      usedAt: null,
      expiresAt: 1_800_000_000_000,
      scopes: "read",
      boundTo: null,
    },
    { most: 9, replaces: false },
  );
  await store.linkIdentity({
    issuer: "https://login.example",
    subject: "Ann \u{1F9EC}",
    user: OWNER,
    linkedAt: 1_700_000_000_003,
  });
  const request = {
    id: "00000000-0000-4000-8000-000000000001",
    record: "ark:99999/asked-for",
    requester: OWNER,
    reason: "Tö \u{1F9EC}\n'read' it",
    askedAt: 1_700_000_000_004,
  };
  await store.askForAccess(request, { most: 9, decidedBefore: 0 });
  await store.decideAccess({
    id: request.id,
    state: "granted",
    until: 1_800_000_000_001,
    message: "As agreed.",
    decidedAt: 1_700_000_000_005,
    decidedBy: OWNER,
  });
  await store.appendAudit({
    at: 1_700_000_000_004,
    action: "SIGN_IN_REFUSED",
    actor: null,
    name: "ann \u{1F9EC}",
    address: "192.0.2.1",
    subject: null,
    detail: { way: "password" },
  });
  const link = { hash: "d".repeat(64), id: "link", record: A, createdBy: OWNER, anonymous: true };
  await store.storeReviewLink(
    { ...link, createdAt: 1_700_000_000_004, expiresAt: 1_800_000_000_000, uses: 0, usedAt: null },
    9,
  );
  await store.useReviewLink(link.hash, 1_700_000_000_005);
  // Links to what comes later, in another spelling; a shared key; names and words of every kind.
  await write(
    store,
    create(
      A,
      {
        name: "Éclair \u{1F9EC} 'quoted' \\ \"name\"",
        keywords: ["Genes", "a  b", `${"long ".repeat(150)}end`],
        links: [
          linkTo("ark:99999/la-ter"),
          linkTo("ark:99999/never", "evi:usedSoftware"),
          linkTo("ark:99999/la-ter"),
        ],
      },
      { objects: [object("a")] },
    ),
  );
  await write(
    store,
    create("ark:99999/later", {
      kind: "software",
      name: "Later",
      extra: { text: "x".repeat(2_500_000) },
    }),
  );
  await write(
    store,
    replace(
      A,
      1,
      {
        name: "Eclairs baking",
        keywords: ["genes", "proteins"],
        licence: "MIT",
        statedAt: Date.UTC(2024, 4, 3),
        links: [linkTo("ark:99999/later")],
      },
      { objects: [object("b")] },
    ),
  );
  await write(
    store,
    create(
      "ark:99999/secret",
      { name: "Zirconium", keywords: ["hush"], links: [linkTo(A)] },
      { private: true },
    ),
  );
  await write(store, create("ark:99999/gone", { links: [linkTo(A)] }, { objects: [object("c")] }));
  await write(
    store,
    remove("ark:99999/gone", 1, { reason: "wrong", successor: A, dropObjects: true }),
  );
  await write(store, { op: "publish", ark: A, status: "EMBARGOED", embargoedUntil: "2030-01-01" });
  const queued = await store.submit({
    id: "s1",
    type: "crate",
    user: OWNER,
    sha256: sha("d"),
    input: { request: "r1" },
    at: 1,
  });
  expect(queued.existing).toBe(false);
  await store.submit({
    id: "s2",
    type: "crate",
    user: OWNER,
    sha256: sha("e"),
    input: { update: true, ü: ["\\", "\n"] },
    update: true,
    at: 2,
  });
  await store.beginAttempt("s2", 3);
  await store.setStage("s2", 1, "reading");
  await store.intend({ kind: "submission", id: "s2", attempt: 1 }, [sha("e")], 4);
  await store.submit({
    id: "s3",
    type: "evidence",
    user: OWNER,
    sha256: null,
    input: { of: A },
    at: 5,
  });
  await store.beginAttempt("s3", 6);
  await store.commit(
    commitOf(
      [
        create(CRATE, { kind: "rocrate" }),
        create("ark:99999/crate/a-b", {}, { crate: CRATE, mayShareKey: true }),
        create(
          "ark:99999/crate/ab",
          {},
          { crate: CRATE, mayShareKey: true, objects: [object("f", "member")] },
        ),
      ],
      {
        uses: { crate: CRATE, arks: [A] },
        submission: {
          id: "s3",
          attempt: 1,
          status: "finished",
          rocrateIdentifier: CRATE,
          identifiersMinted: 3,
          warnings: [],
        },
      },
    ),
  );
  await store.submit({ id: "s4", type: "crate", user: OWNER, sha256: sha("1"), input: {}, at: 7 });
  await store.cancelSubmission("s4", 8);
  await store.lease("sweep", "n1", 10);
  await store.releaseLease("sweep", "n1");
  await store.lease("sweep", "n2", 10);
  await store.close();
}

/** Bytes as their hash: what differs is to be read by people. */
const shown = (chunks: readonly TransferChunk[]) =>
  chunks.map((chunk) =>
    "table" in chunk
      ? {
          ...chunk,
          rows: chunk.rows.map((row) =>
            row.map((value) =>
              value instanceof Uint8Array
                ? `${value.byteLength} bytes ${createHash("sha256").update(value).digest("hex")}`
                : value,
            ),
          ),
        }
      : chunk,
  );

const exported = async (place: Place) => shown(await chunksOf(place));

async function chunksOf(place: Place): Promise<TransferChunk[]> {
  const transfer = await place.transfer({ make: false });
  try {
    const chunks: TransferChunk[] = [];
    for await (const chunk of transfer.export()) chunks.push(chunk);
    return chunks;
  } finally {
    await transfer.close();
  }
}

async function* all(chunks: readonly TransferChunk[]): AsyncGenerator<TransferChunk> {
  yield* chunks;
}

export async function move(from: Place, to: Place): Promise<void> {
  const [source, target] = [
    await from.transfer({ make: false }),
    await to.transfer({ make: true }),
  ];
  try {
    await target.import(source.export());
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
}

async function digestOf(place: Place): Promise<unknown> {
  const transfer = await place.transfer({ make: false });
  const digester = openRecordsDigester(() => transfer.openFeed());
  try {
    return await digester.digest(0);
  } finally {
    await digester.close();
    await transfer.close();
  }
}

const rowsOf = (chunks: ReturnType<typeof shown>, table: TransferTable) =>
  chunks.flatMap((chunk) => ("table" in chunk && chunk.table === table ? chunk.rows : []));

/** What every pair of adapters must do with a truth that moves from one to the other, and back. */
export function recordsTransferConformance(name: string, newFrom: NewPlace, newTo: NewPlace): void {
  describe(`a record store moved from ${name}`, () => {
    let places: Place[];
    let [from, to]: Place[] = [];
    const another = async (make: NewPlace): Promise<Place> => {
      places.push(await make());
      return places.at(-1)!;
    };
    beforeEach(async () => {
      places = [];
      [from, to] = [await another(newFrom), await another(newTo)];
    });
    afterEach(async () => {
      for (const place of places) await place.destroy();
    });

    test("has rows in every table, and is identical there and after the return, chunk for chunk", async () => {
      await fill(from!);
      const before = await exported(from!);
      for (const table of TRANSFER_TABLES)
        expect([table, rowsOf(before, table).length > 0]).toEqual([table, true]);
      for (const [table, { columns }] of Object.entries(TRANSFER))
        for (const row of rowsOf(before, table as TransferTable))
          expect(row.length).toBe(Object.keys(columns).length);
      await move(from!, to!);
      expect(await exported(to!)).toEqual(before);
      const back = await another(newFrom);
      await move(to!, back);
      expect(await exported(back)).toEqual(before);
      expect(await exported(from!)).toEqual(before);
      expect(await digestOf(to!)).toEqual(await digestOf(from!));
      expect(await digestOf(back)).toEqual(await digestOf(from!));
    });

    test("gives the same answers there, and accepts writes", async () => {
      await fill(from!);
      await move(from!, to!);
      const [here, there] = [await from!.store(), await to!.store()];
      try {
        const ask = async (store: RecordStore) => ({
          records: await store.findMany([
            OWNER,
            A,
            CRATE,
            "ark:99999/later",
            "ark:99999/gone",
            "ark:99999/crate/ab",
          ]),
          history: await store.history(A, { limit: 9 }),
          old: await store.atRevision(A, 1),
          list: await store.select({ filter: {}, order: AS_CREATED, limit: 20 }),
          byName: await store.select({
            filter: {},
            order: { by: "name", descending: false },
            limit: 3,
          }),
          byWord: await store.select({
            filter: { keywords: ["GENES"] },
            order: AS_CREATED,
            limit: 5,
          }),
          licences: await store.statistics({ filter: {}, by: ["licence"], limit: 9 }),
          years: await store.statistics({ filter: {}, by: ["publicationYear"], limit: 9 }),
          part: await store.select({
            filter: { nameContains: "clair" },
            order: AS_CREATED,
            limit: 5,
          }),
          count: await store.countSelected({ filter: { kinds: ["dataset"] } }),
          byOwner: await store.countSelected({ filter: { owners: [arkKey(OWNER)] } }),
          to: await store.linksTo([A, "ark:99999/later"], { limit: 5 }),
          from: await store.linksFrom([A], { limit: 5 }),
          found: (
            await store.search({ text: "eclair protein", match: "all", limit: 5, offset: 0 })
          ).hits.map(({ ark }) => ark),
          typo: (
            await store.search({ text: "protiens", match: "all", limit: 5, offset: 0 })
          ).hits.map(({ ark }) => ark),
          quads: await store.quads(A),
          account: await store.accountByEmail("ann@example.org"),
          accounts: await store.countAccounts(),
          signIns: await store.accounts({ limit: 9 }),
          credential: await store.credential("c".repeat(64)),
          identities: await store.identitiesOf(OWNER),
          audit: await store.auditEntries({ filter: {}, limit: 99 }),
          links: await store.reviewLinksOf(A),
          setting: await store.setting("admin-token"),
          submissions: await store.submissionsOf(null, { limit: 9 }),
          unfinished: await store.unfinished(),
          objects: await store.objectsOf(A),
          deleted: await store.contentWasDeleted("ark:99999/gone"),
          referenced: await store.referenced({ limit: 9 }),
          uses: await store.usesOf(CRATE),
          elsewhere: await store.usedElsewhere([A], "ark:99999/other"),
          sequence: await store.sequence(),
        });
        const plain = (value: unknown): unknown =>
          JSON.parse(
            JSON.stringify(value, (_, one: unknown) =>
              one instanceof Uint8Array || (one as { type?: string } | null)?.type === "Buffer"
                ? "bytes"
                : one,
            ),
          );
        const answers = await ask(there);
        expect(plain(answers)).toEqual(plain(await ask(here)));
        expect(answers.licences.groups).toContainEqual(
          expect.objectContaining({ values: ["MIT"], records: 1, bytes: 0 }),
        );
        expect(answers.years.groups).toContainEqual(
          expect.objectContaining({ values: ["2024"], records: 1 }),
        );
        expect(answers.found).toEqual([A]);
        expect(answers.typo).toEqual([A]);
        expect(answers.unfinished.map(({ id }) => id)).toEqual(["s1", "s2"]);
        // Both go on alike: numbers, links that wait, attempts, fences, who is taken for whom.
        const goOn = async (store: RecordStore & LeaseStore) => [
          await store.commit({
            by: OWNER,
            at: 1_900_000_000_000,
            records: [
              replace(A, 3, { name: "Again", links: [linkTo("ark:99999/later")] }),
              create("ark:99999/ne-ver", { kind: "software" }),
              remove("ark:99999/later", 1),
            ],
          }),
          await store.beginAttempt("s1", 9),
          await store.beginAttempt("s2", 10),
          (
            await store.submit({
              id: "s9",
              type: "crate",
              user: OWNER,
              sha256: sha("d"),
              input: {},
              at: 11,
            })
          ).existing,
          await store.lease("sweep", "n3", 1000),
          await store.select({ filter: {}, order: AS_CREATED, limit: 20 }),
          await store.find(arkFrom(A)),
          await store.quads(A),
          await store.countSelected({ filter: { kinds: ["software"] } }),
          await store.accountOf(OWNER),
          await store.commit({
            by: OWNER,
            at: 1_900_000_000_001,
            records: [
              create(
                "ark:99999/last",
                {},
                {
                  objects: [
                    { sha256: sha("9"), size: 1, mediaType: "a/b", name: "n", role: "content" },
                  ],
                },
              ),
            ],
          }),
        ];
        expect(plain(await goOn(there))).toEqual(plain(await goOn(here)));
        await there.health();
      } finally {
        await Promise.all([here.close(), there.close()]);
      }
    });

    test("lists the objects that it needs, with their sizes", async () => {
      await fill(from!);
      await move(from!, to!);
      const transfer = await to!.transfer({ make: false });
      const first = await transfer.neededObjects({ limit: 2 });
      const rest = await transfer.neededObjects({ after: first.next!, limit: 9 });
      await transfer.close();
      expect([...first.items, ...rest.items]).toEqual(
        [
          ["a", 3],
          ["b", 3],
          ["d", null],
          ["e", null],
          ["f", 3],
        ].map(([digit, size]) => ({ sha256: sha(digit as string), size })),
      );
    });

    test("may be empty, and may be moved into a store that was opened once", async () => {
      const started = await to!.store();
      await started.setSetting("admin-token", "its own");
      await started.lease("sweep", "n", 10);
      await started.close();
      await (await from!.store()).close();
      await move(from!, to!);
      expect(rowsOf(await exported(to!), "setting")).toEqual([]);
      expect(rowsOf(await exported(to!), "lease")).toEqual([["sweep", 1]]);
    });

    test("is refused by a store that is not empty, which stays unchanged", async () => {
      await fill(from!);
      const other = await to!.store();
      await write(other, create("ark:99999/its-own"));
      await other.close();
      const before = await exported(to!);
      await expect(move(from!, to!)).rejects.toThrow(TransferRefused);
      expect(await exported(to!)).toEqual(before);
    });

    test(
      "is complete or absent: an interruption leaves the store empty, and the move can be " +
        "repeated",
      async () => {
        await fill(from!);
        const chunks = await chunksOf(from!);
        const cuts: [string, () => AsyncIterable<TransferChunk>][] = [
          ["no end", () => all(chunks.slice(0, -1))],
          ["no beginning", () => all(chunks.slice(1))],
          ["a chunk less", () => all(chunks.toSpliced(4, 1))],
          [
            "another format",
            () => all([{ begin: { format: 2, sequence: 0 } } as never, ...chunks.slice(1)]),
          ],
          [
            "the source is lost",
            async function* () {
              yield* chunks.slice(0, 9);
              throw new Error("the source is lost");
            },
          ],
          [
            "a row that is none",
            () =>
              all(
                chunks.map((chunk) =>
                  "table" in chunk && chunk.table === "link"
                    ? { ...chunk, rows: [[1, "two"]] }
                    : chunk,
                ),
              ),
          ],
          [
            "a row twice",
            () =>
              all(
                chunks.flatMap((chunk) =>
                  "table" in chunk && chunk.table === "account" ? [chunk, chunk] : [chunk],
                ),
              ),
          ],
        ];
        for (const [cut, make] of cuts) {
          const target = await to!.transfer({ make: true });
          await expect(target.import(make()), cut).rejects.toThrow();
          expect([cut, await target.isEmpty(), await target.sequence()]).toEqual([cut, true, 0]);
          await target.close();
        }
        await move(from!, to!);
        expect(await exported(to!)).toEqual(shown(chunks));
      },
    );

    test("is a consistent snapshot under concurrent writes", async () => {
      await fill(from!);
      const before = await exported(from!);
      const transfer = await from!.transfer({ make: false });
      const store = transfer.exclusive ? undefined : await from!.store();
      const chunks: TransferChunk[] = [];
      for await (const chunk of transfer.export()) {
        chunks.push(chunk);
        if (store)
          await write(
            store,
            create(`ark:99999/meanwhile-${chunks.length}`, { links: [linkTo(A)] }),
          );
      }
      expect(shown(chunks)).toEqual(before);
      if (store)
        expect(await transfer.sequence()).toBeGreaterThan(
          (before[0] as { begin: { sequence: number } }).begin.sequence,
        );
      await store?.close();
      await transfer.close();
    });
  });
}
