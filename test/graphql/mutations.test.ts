import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { bodyOf } from "../support/bodies.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Answer, Json, User } from "../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
let bob: User;
beforeAll(async () => {
  registry = await LiveRegistry.start({ MAX_UPLOAD_BYTES: "1M" });
  [ada, bob] = await Promise.all([registry.user("Ada"), registry.user("Bob")]);
});
afterAll(() => registry?.stop());

const codeOf = ({ body }: Answer): unknown => body["errors"]?.[0]?.extensions.code;
const made = async (kind: string, more: Json = {}): Promise<string> => {
  const { body, text } = await registry.ask(`/${kind}`, {
    token: ada.token,
    body: bodyOf(kind as "group", ada.ark, more),
  });
  if (typeof body["@id"] !== "string") throw new Error(text);
  return body["@id"];
};
/** A GraphQL multipart request with one file. */
async function upload(
  query: string,
  variables: Json,
  file: Blob,
  token?: string,
  headers: Record<string, string> = { "apollo-require-preflight": "true" },
): Promise<Answer> {
  const form = new FormData();
  form.set("operations", JSON.stringify({ query, variables: { ...variables, file: null } }));
  form.set("map", JSON.stringify({ 0: ["variables.file"] }));
  form.set("0", file, "data.csv");
  return registry.ask("/graphql", {
    method: "POST",
    body: form,
    headers,
    ...(token === undefined ? {} : { token }),
  });
}

describe("membership of a group", () => {
  const add =
    "mutation ($group: ID!, $user: ID!, $revision: Int) { addGroupMember(input: " +
    "{ group: $group, user: $user, expectedRevision: $revision }) { revision group { id members " +
    "{ nodes { id name } } } } }";
  const remove =
    "mutation ($group: ID!, $user: ID!) { removeGroupMember(input: { group: $group, " +
    "user: $user }) { revision group { members { nodes { id } } } } }";
  test("is added and removed by its owner, and visible from both sides", async () => {
    const group = await made("group");
    const added = await registry.graphql(add, { group, user: bob.ark }, ada.token);
    expect(added.body["data"]).toEqual({
      addGroupMember: {
        revision: 2,
        group: { id: group, members: { nodes: [{ id: bob.ark, name: "Bob" }] } },
      },
    });
    expect(
      (await registry.graphql(add, { group, user: bob.ark }, ada.token)).body["data"].addGroupMember
        .revision,
    ).toBe(2);
    const seen = await registry.graphql(
      "query ($id: ID!) { user(id: $id) { organizations { nodes { id } } } }",
      { id: bob.ark },
    );
    expect(seen.body["data"].user.organizations.nodes).toEqual([{ id: group }]);
    expect(
      (await registry.graphql(remove, { group, user: bob.ark }, ada.token)).body["data"],
    ).toEqual({ removeGroupMember: { revision: 3, group: { members: { nodes: [] } } } });
  });
  test("is refused with the codes of REST", async () => {
    const group = await made("group");
    for (const [variables, token, code] of [
      [{ group, user: bob.ark }, undefined, "NOT_AUTHENTICATED"],
      [{ group, user: bob.ark }, bob.token, "FORBIDDEN"],
      [{ group, user: "nobody" }, ada.token, "VALIDATION"],
      [{ group, user: "ark:99999/user-none" }, ada.token, "NOT_FOUND"],
      [{ group: "ark:99999/group-none", user: bob.ark }, ada.token, "NOT_FOUND"],
      [{ group, user: bob.ark, revision: 7 }, ada.token, "REVISION_MISMATCH"],
    ] as const)
      expect(codeOf(await registry.graphql(add, variables, token)), code).toBe(code);
    expect(codeOf(await registry.graphql(remove, { group, user: ada.ark }, ada.token))).toBe(
      "OWNER_STAYS",
    );
  });
});

describe("publication", () => {
  const publish =
    "mutation ($id: ID!, $status: PublicationStatus!, $until: String) { publishRecord(input: " +
    "{ id: $id, publicationStatus: $status, embargoedUntil: $until }) { revision record { id " +
    "publicationStatus embargoEndsAt revisions { nodes { action } } } } }";
  test("sets a status as a revision", async () => {
    const id = await made("dataset");
    const { body } = await registry.graphql(
      publish,
      { id, status: "EMBARGOED", until: "2030-01-01" },
      ada.token,
    );
    expect(body["data"].publishRecord).toEqual({
      revision: 2,
      record: {
        id,
        publicationStatus: "EMBARGOED",
        embargoEndsAt: "2030-01-01T00:00:00.000Z",
        revisions: { nodes: [{ action: "PUBLISH" }, { action: "CREATE" }] },
      },
    });
    expect((await registry.ask(`/publish/${id}`)).body).toMatchObject({
      publicationStatus: "EMBARGOED",
      embargoedUntil: "2030-01-01",
    });
  });
  test("is refused with the codes of REST", async () => {
    const id = await made("dataset");
    expect(codeOf(await registry.graphql(publish, { id, status: "PUBLISHED" }, bob.token))).toBe(
      "FORBIDDEN",
    );
    expect(
      codeOf(
        await registry.graphql(
          publish,
          { id, status: "PUBLISHED", until: "2030-01-01" },
          ada.token,
        ),
      ),
    ).toBe("VALIDATION");
    expect(codeOf(await registry.graphql(publish, { id, status: "SECRET" }, ada.token))).toBe(
      "VALIDATION",
    );
  });
});

describe("a run of a computation", () => {
  const run =
    "mutation ($id: ID!) { executeComputation(input: { id: $id }) { submission { id } } }";
  test("is refused where no container engine is configured, after every other check", async () => {
    const id = await made("computation");
    expect(codeOf(await registry.graphql(run, { id }))).toBe("NOT_AUTHENTICATED");
    expect(codeOf(await registry.graphql(run, { id }, bob.token))).toBe("FORBIDDEN");
    expect(codeOf(await registry.graphql(run, { id }, ada.token))).toBe("NO_CONTAINER_ENGINE");
  });
});

describe("an upload", () => {
  const register =
    "mutation ($input: DataDownloadInput!, $file: Upload!) { registerDownload(input: " +
    "{ dataDownload: $input, file: $file }) { dataDownload { id name sha256 contentSize contentUrl } } }";
  const input = (more: Json = {}): Json => ({
    type: "evi:DataDownload",
    name: "A table",
    description: "A table of counts.",
    owner: ada.ark,
    encodingFormat: "text/csv",
    contentSize: null,
    contentUrl: null,
    sha256: null,
    encodesCreativeWork: "ark:99999/dataset-x",
    ...more,
  });
  const bytes = "a,b\n1,2\n";
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  test("creates a file record with its content", async () => {
    const { body } = await upload(
      register,
      { input: input() },
      new Blob([bytes], { type: "text/csv" }),
      ada.token,
    );
    expect(body).toMatchObject({
      data: {
        registerDownload: {
          dataDownload: {
            name: "A table",
            sha256,
            contentSize: String(bytes.length),
            contentUrl: expect.stringContaining("/download"),
          },
        },
      },
    });
    const { id } = body["data"].registerDownload.dataDownload as { id: string };
    expect((await registry.ask(`/datadownload/${id}/download`, { token: ada.token })).text).toBe(
      bytes,
    );
  });
  test(
    "is refused without a preflight header or token, when it is too large, and when its " +
      "claims are wrong",
    async () => {
      const file = new Blob([bytes]);
      expect(codeOf(await upload(register, { input: input() }, file, ada.token, {}))).toBe(
        "BAD_REQUEST",
      );
      expect(codeOf(await upload(register, { input: input() }, file))).toBe("NOT_AUTHENTICATED");
      expect(
        codeOf(
          await upload(register, { input: input({ sha256: "0".repeat(64) }) }, file, ada.token),
        ),
      ).toBe("VALIDATION");
      expect(
        codeOf(
          await upload(register, { input: input({ name: "", description: "x" }) }, file, ada.token),
        ),
      ).toBe("VALIDATION");
      expect(
        codeOf(
          await upload(
            register,
            { input: input() },
            new Blob([new Uint8Array(1_500_000)]),
            ada.token,
          ),
        ),
      ).toBe("TOO_LARGE");
      expect(
        codeOf(await upload(register, { input: input({ owner: bob.ark }) }, file, ada.token)),
      ).toBe("FORBIDDEN");
    },
  );
  test("of a crate creates a submission, which its uploader can list and cancel while it runs", async () => {
    const archive = new Blob([new Uint8Array(await buildDemoCrate())]);
    const { body } = await upload(
      "mutation ($file: Upload!) { uploadCrate(input: { source: { archive: $file } }) { submission { id } } }",
      {},
      archive,
      ada.token,
    );
    const id = body["data"].uploadCrate.submission.id as string;
    expect(await registry.settled(id, ada.token)).toMatchObject({ status: "finished" });
    const cancel =
      "mutation ($id: ID!) { cancelSubmission(input: { id: $id }) { submission { status completed error { code } } } }";
    expect(codeOf(await registry.graphql(cancel, { id }, ada.token))).toBe("NOT_CANCELLABLE");
    expect(codeOf(await registry.graphql(cancel, { id }, bob.token))).toBe("NOT_FOUND");
    const queued = async () =>
      (
        await registry.deps.records.submit({
          id: crypto.randomUUID(),
          type: "crate",
          user: ada.ark,
          sha256: null,
          input: {},
          at: Date.now(),
        })
      ).submission.id;
    const waiting = await queued();
    expect(
      (await registry.graphql(cancel, { id: waiting }, ada.token)).body["data"].cancelSubmission
        .submission,
    ).toEqual({ status: "FAILED", completed: true, error: [{ code: "CANCELLED" }] });

    const last = await queued();
    const list =
      "query ($first: Int, $after: String) { submissions(first: $first, after: $after) { " +
      "totalCount nodes { id } pageInfo { hasNextPage endCursor } } }";
    const first = (await registry.graphql(list, { first: 2 }, ada.token)).body["data"].submissions;
    expect(first).toMatchObject({
      totalCount: 3,
      nodes: [{ id: last }, { id: waiting }],
      pageInfo: { hasNextPage: true },
    });
    const rest = (
      await registry.graphql(list, { first: 2, after: first.pageInfo.endCursor }, ada.token)
    ).body["data"].submissions;
    expect(rest).toMatchObject({
      totalCount: 3,
      nodes: [{ id }],
      pageInfo: { hasNextPage: false },
    });
    expect((await registry.graphql(list, {}, bob.token)).body["data"].submissions).toMatchObject({
      totalCount: 0,
      nodes: [],
    });
    expect(codeOf(await registry.graphql(list, {}))).toBe("NOT_AUTHENTICATED");
    const byAda = `{ submissions(submittedBy: "${ada.ark}") { totalCount } }`;
    expect((await registry.graphql(byAda, {}, ada.token)).body["data"].submissions.totalCount).toBe(
      3,
    );
    expect(codeOf(await registry.graphql(byAda, {}, bob.token))).toBe("FORBIDDEN");
    const members = await registry.graphql(
      "query ($crate: ID!) { dataDownloads(filter: { crate: $crate }) { totalCount } " +
        `datasets(filter: { crate: "nothing" }) { totalCount } }`,
      { crate: "ark:99999/rocrate-none" },
    );
    expect(codeOf(members)).toBe("VALIDATION");
    const { rocrateIdentifier: crate } = await registry.settled(id, ada.token);
    expect(
      (
        await registry.graphql(
          "query ($crate: ID!) { dataDownloads(filter: { crate: $crate }) { totalCount } }",
          { crate },
        )
      ).body["data"].dataDownloads.totalCount,
    ).toBeGreaterThan(3);
  });
});

describe("several writes in one request", () => {
  test("each see the results of the earlier ones", async () => {
    const group = await made("group");
    const { body } = await registry.graphql(
      "mutation ($group: ID!, $one: ID!, $two: ID!) { a: addGroupMember(input: { " +
        "group: $group, user: $one }) { group { owner { name } members { nodes { id } } } } b: " +
        "addGroupMember(input: { group: $group, user: $two }) { revision } c: removeGroupMember(" +
        "input: { group: $group, user: $one }) { group { members { nodes { id } } } } }",
      { group, one: bob.ark, two: (await registry.user("Cy")).ark },
      ada.token,
    );
    expect(body["data"].b.revision).toBe(3);
    expect(body["data"].c.group.members.nodes).toHaveLength(1);
  });
});
