import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ark, arkKey } from "../../../src/identifiers/ark.js";
import type { JsonObject } from "../../../src/model/field.js";
import { KINDS } from "../../../src/model/kinds.js";
import { authenticated, type Caller } from "../../../src/services/access/rules.js";
import type { Deps } from "../../../src/services/deps.js";
import { readRecord as read } from "../../../src/services/evidence/stored/build.js";
import { contentOf } from "../../../src/services/files/content.js";
import { stateOf } from "../../../src/services/records/state.js";
import { createRecord } from "../../../src/services/records/write.js";
import { readRevision } from "../../../src/services/records/read.js";
import { removeRecord as removeAs } from "../../../src/services/records/remove.js";
import { replaceRecord as replaceAs } from "../../../src/services/records/write.js";
import { parseDocument, type RecordView, viewOf } from "../../../src/services/records/view.js";
import { arkFrom } from "../../support/arks.js";
import { bodyOf } from "../../support/bodies.js";
import { storeContent } from "../../support/content.js";
import { PASSWORD, startServer, type TestServer } from "../../support/server.js";

type Who =
  | "anonymous"
  | "owner"
  | "groupMember"
  | "organizationMember"
  | "projectMember"
  | "groupOwner"
  | "otherUser"
  | "admin";
const EVERYONE: Who[] = [
  "anonymous",
  "owner",
  "groupMember",
  "organizationMember",
  "projectMember",
  "groupOwner",
  "otherUser",
  "admin",
];
/** Who may act for records of each owner. */
const MAY: Record<string, Who[]> = {
  owner: ["owner", "admin"],
  group: ["groupMember", "groupOwner", "admin"],
  organization: ["organizationMember", "groupOwner", "admin"],
  project: ["projectMember", "groupOwner", "admin"],
  otherUser: ["otherUser", "admin"],
  "a record that is not here": ["admin"],
  "a dataset of the owner": ["admin"],
};

/** As REST and GraphQL call them: the token is asked for first. */
const replaceRecord = async (
  deps: Deps,
  kind: Parameters<typeof replaceAs>[1],
  input: JsonObject,
  caller: Caller | null,
) => replaceAs(deps, kind, input, authenticated(caller));
const removeRecord = async (deps: Deps, ark: Ark, caller: Caller | null) =>
  removeAs(deps, ark, authenticated(caller));

/** As REST answers it. */
const readRecord = async (deps: Deps, ark: Ark, caller: Caller | null) =>
  viewOf(deps, await read(deps, ark), caller);

let server: TestServer;
const callers = {} as Record<Who, Caller | null>;
const owners: Record<string, string> = {};
beforeAll(async () => {
  server = await startServer();
  callers.anonymous = null;
  for (const who of [
    "admin",
    "owner",
    "groupMember",
    "organizationMember",
    "projectMember",
    "groupOwner",
    "otherUser",
  ] as const) {
    const caller = { user: `ark:99999/user-${who}`, admin: who === "admin" };
    callers[who] = caller;
    await createRecord(
      server.deps,
      "user",
      { "@id": caller.user, name: who, email: `${who}@example.org`, password: PASSWORD },
      null,
    );
    owners[who] = caller.user;
  }
  for (const [kind, member] of [
    ["group", "groupMember"],
    ["organization", "organizationMember"],
    ["project", "projectMember"],
  ] as const) {
    // The member is spelled otherwise than it is stored: what counts is who is meant.
    const body = bodyOf(kind, owners["groupOwner"]!, {
      members: [`https://n2t.net/ark:/99999/u-s-e-r-${member}`],
    });
    owners[kind] = parseDocument(
      (await createRecord(server.deps, kind, body, callers.groupOwner)).bytes,
    )["@id"] as string;
  }
  owners["a record that is not here"] = "ark:99999/nobody";
  owners["a dataset of the owner"] = await idOf(
    createRecord(
      server.deps,
      "dataset",
      bodyOf("dataset", owners["owner"]!, { members: [owners["otherUser"]!] }),
      callers.owner,
    ),
  );
});
afterAll(() => server.stop());

const idOf = async (view: Promise<RecordView>) => (await view).record.ark;
const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );
const refusal = (who: Who) => (who === "anonymous" ? "NOT_AUTHENTICATED" : "FORBIDDEN");
/** A dataset of that owner, made by an administrator. */
const datasetOf = (owner: string, more: JsonObject = {}) =>
  createRecord(server.deps, "dataset", bodyOf("dataset", owner, more), callers.admin);
const table = Object.keys(MAY).flatMap((owner) =>
  EVERYONE.map((who) => [who, owner, MAY[owner]!.includes(who)] as const),
);

describe("creating, changing and deleting", () => {
  it.each(table)("by %s for %s: %s", async (who, owner, may) => {
    const { deps } = server;
    const expected = may ? "done" : refusal(who);
    expect(
      await outcome(createRecord(deps, "dataset", bodyOf("dataset", owners[owner]!), callers[who])),
    ).toBe(expected);
    const { record, bytes } = await datasetOf(owners[owner]!);
    expect(
      await outcome(
        replaceRecord(
          deps,
          "dataset",
          { ...parseDocument(bytes), name: `by ${who}` },
          callers[who],
        ),
      ),
    ).toBe(expected);
    expect(await outcome(removeRecord(deps, arkFrom(record.ark), callers[who]))).toBe(expected);
    expect(await outcome(readRecord(deps, arkFrom(record.ark), null))).toBe(may ? "GONE" : "done");
  });
});

describe("ownership", () => {
  it.each(Object.keys(MAY))(
    "can be transferred by an owner to %s only where the owner could create for it",
    async (to) => {
      const { bytes } = await datasetOf(owners["owner"]!);
      const given = replaceRecord(
        server.deps,
        "dataset",
        { ...parseDocument(bytes), owner: owners[to]! },
        callers.owner,
      );
      expect(await outcome(given)).toBe(MAY[to]!.includes("owner") ? "done" : "FORBIDDEN");
    },
  );
  it("can be transferred inside a group, in any spelling, and is stored as sent", async () => {
    const { bytes } = await datasetOf(owners["groupMember"]!);
    const owner = owners["group"]!.replace("ark:", "https://n2t.net/ark:/");
    const given = await replaceRecord(
      server.deps,
      "dataset",
      { ...parseDocument(bytes), owner },
      callers.groupMember,
    );
    expect(parseDocument(given.bytes)["owner"]).toBe(owner);
    expect(
      await outcome(removeRecord(server.deps, arkFrom(given.record.ark), callers.groupOwner)),
    ).toBe("done");
  });
  it("lasts while a group owns records, which cannot be deleted before", async () => {
    const group = await createRecord(
      server.deps,
      "group",
      bodyOf("group", owners["owner"]!, { members: [owners["otherUser"]!] }),
      callers.owner,
    );
    const dataset = await datasetOf(group.record.ark);
    const remove = (ark: string, who: Who) =>
      outcome(removeRecord(server.deps, arkFrom(ark), callers[who]));
    expect(await remove(group.record.ark, "owner")).toBe("OWNS_RECORDS");
    expect(await remove(dataset.record.ark, "otherUser")).toBe("done");
    expect(await remove(group.record.ark, "owner")).toBe("done");
    expect(await outcome(datasetOf(group.record.ark))).not.toBe("done");
  });
  it("does not follow from statements in a user record or memberOf", async () => {
    const { deps } = server;
    const { bytes } = await readRecord(deps, arkFrom(owners["otherUser"]!), callers.otherUser);
    await replaceRecord(
      deps,
      "user",
      {
        ...parseDocument(bytes),
        password: PASSWORD,
        organizations: [owners["organization"]!],
        projects: [owners["project"]!],
      },
      callers.otherUser,
    );
    await createRecord(
      deps,
      "project",
      bodyOf("project", owners["otherUser"]!, { memberOf: owners["organization"]! }),
      callers.otherUser,
    );
    for (const owner of ["organization", "project"])
      expect(
        await outcome(
          createRecord(deps, "dataset", bodyOf("dataset", owners[owner]!), callers.otherUser),
        ),
      ).toBe("FORBIDDEN");
  });
});

describe.each(["group", "organization", "project"] as const)("the members of a %s", (kind) => {
  it.each(EVERYONE)("may be changed by %s only as its owner or as administrator", async (who) => {
    const members = [owners["groupMember"]!];
    // Owned by a group, so that its members may change everything else of it.
    const made = await createRecord(
      server.deps,
      kind,
      bodyOf(kind, owners["group"]!, { members }),
      callers.groupOwner,
    );
    const document = parseDocument(made.bytes);
    const change = (more: JsonObject) =>
      outcome(replaceRecord(server.deps, kind, { ...document, ...more }, callers[who]));
    const others = MAY["group"]!.includes(who) ? "done" : refusal(who);
    expect(await change({ name: "renamed", members })).toBe(others);
    expect(await change({ members: [...members, owners["otherUser"]!] })).toBe(
      who === "admin" ? "done" : refusal(who),
    );
    const { members: _members, ...without } = document;
    if (who !== "admin")
      expect(await outcome(replaceRecord(server.deps, kind, without, callers[who]))).toBe(
        refusal(who),
      );
  });
  it("may be changed by the user that owns it", async () => {
    const made = await createRecord(
      server.deps,
      kind,
      bodyOf(kind, owners["owner"]!),
      callers.owner,
    );
    expect(
      await outcome(
        replaceRecord(
          server.deps,
          kind,
          { ...parseDocument(made.bytes), members: [owners["otherUser"]!] },
          callers.owner,
        ),
      ),
    ).toBe("done");
  });
});
it("a field of that name in a kind without members may be changed freely", async () => {
  const { bytes } = await datasetOf(owners["group"]!, { members: ["a"] });
  expect(
    await outcome(
      replaceRecord(
        server.deps,
        "dataset",
        { ...parseDocument(bytes), members: ["b"] },
        callers.groupMember,
      ),
    ),
  ).toBe("done");
});

describe("a user", () => {
  it.each(EVERYONE)(
    "is changed, deleted and read whole by %s only as itself or as administrator",
    async (who) => {
      const { deps } = server;
      const { bytes } = await readRecord(deps, arkFrom(owners["owner"]!), callers.admin);
      const may = who === "owner" || who === "admin";
      expect(
        await outcome(
          replaceRecord(
            deps,
            "user",
            { ...parseDocument(bytes), password: PASSWORD, nick: who },
            callers[who],
          ),
        ),
      ).toBe(may ? "done" : refusal(who));
      const shown = (await readRecord(deps, arkFrom(owners["owner"]!), callers[who])).bytes;
      expect(Buffer.from(shown).includes("owner@example.org")).toBe(may);
      expect(
        Buffer.from(
          (await readRevision(deps, arkFrom(owners["owner"]!), 1, callers[who])).bytes,
        ).includes("owner@example.org"),
      ).toBe(may);
      expect(Buffer.from(shown).includes(PASSWORD)).toBe(false);
      const doomed = `ark:99999/user-doomed-${who}`;
      await createRecord(
        deps,
        "user",
        { "@id": doomed, name: "d", email: `d-${who}@example.org`, password: PASSWORD },
        null,
      );
      expect(await outcome(removeRecord(deps, arkFrom(doomed), callers[who]))).toBe(
        who === "admin" ? "done" : refusal(who),
      );
    },
  );
  it("leaves records behind that only administrators change", async () => {
    const { deps } = server;
    const gone = { user: "ark:99999/user-gone", admin: false };
    await createRecord(
      deps,
      "user",
      { "@id": gone.user, name: "g", email: "gone@example.org", password: PASSWORD },
      null,
    );
    const { record } = await createRecord(deps, "dataset", bodyOf("dataset", gone.user), gone);
    await removeRecord(deps, arkFrom(gone.user), gone);
    for (const who of EVERYONE.filter((one) => one !== "admin"))
      expect(await outcome(removeRecord(deps, arkFrom(record.ark), callers[who]))).toBe(
        refusal(who),
      );
    expect(await outcome(removeRecord(deps, arkFrom(record.ark), callers.admin))).toBe("done");
  });
});

describe("content", () => {
  const past = "2001-01-01T00:00:00Z";
  const future = "2999-01-01T00:00:00Z";
  const STATES = [
    ["DRAFT", null, false],
    ["PUBLISHED", null, true],
    ["EMBARGOED", null, false],
    ["EMBARGOED", future, false],
    ["EMBARGOED", past, true],
    ["ARCHIVED", null, false],
  ] as const;
  it.each(STATES)(
    "that is %s until %s is public: %s; and always readable by callers who may change " +
      "the record",
    async (status, embargoedUntil, open) => {
      const { deps } = server;
      for (const owner of ["owner", "group"]) {
        const { record } = await datasetOf(owners[owner]!);
        await storeContent(deps, record, "the bytes");
        await deps.records.commit({
          by: null,
          at: Date.now(),
          records: [{ op: "publish", ark: record.ark, status, embargoedUntil }],
        });
        for (const who of EVERYONE)
          expect(
            await outcome(contentOf(deps, arkFrom(record.ark), callers[who])),
            `${who} ${owner}`,
          ).toBe(open || MAY[owner]!.includes(who) ? "done" : refusal(who));
      }
    },
  );
  it("whose embargo is over remains closed while its crate is not published", async () => {
    const { deps } = server;
    const crate = await datasetOf(owners["owner"]!);
    const member = await datasetOf(owners["owner"]!, {});
    const ark = `${crate.record.ark}/member`;
    const state = await stateOf(deps, KINDS.dataset, ark, {
      ...parseDocument(member.bytes),
      "@id": ark,
    });
    await deps.records.commit({
      by: null,
      at: Date.now(),
      records: [{ op: "create", ark, key: arkKey(ark), crate: crate.record.ark, ...state }],
    });
    const stored = (await deps.records.findMany([ark]))[0]!;
    await storeContent(deps, stored, "embargoed bytes");
    await deps.records.commit({
      by: null,
      at: Date.now(),
      records: [{ op: "publish", ark, status: "EMBARGOED", embargoedUntil: past }],
    });
    expect(await outcome(contentOf(deps, arkFrom(ark), null))).toBe("NOT_AUTHENTICATED");
    await deps.records.commit({
      by: null,
      at: Date.now(),
      records: [
        { op: "publish", ark: crate.record.ark, status: "PUBLISHED", embargoedUntil: null },
      ],
    });
    expect(await outcome(contentOf(deps, arkFrom(ark), null))).toBe("done");
  });
});

it("earlier revisions of a deleted record are for its owner and administrators", async () => {
  const { deps } = server;
  const { record } = await datasetOf(owners["owner"]!);
  await removeRecord(deps, arkFrom(record.ark), callers.owner);
  for (const who of EVERYONE)
    expect(await outcome(readRevision(deps, arkFrom(record.ark), 1, callers[who])), who).toBe(
      MAY["owner"]!.includes(who) ? "done" : "GONE",
    );
});
