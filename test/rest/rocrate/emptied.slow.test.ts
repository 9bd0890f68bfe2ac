import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failure, useRegistry } from "../../support/client-rig.js";
import { alone, emptiedRelease, release, SUB } from "../../support/linked-crate.js";

const { folder, server, ada, tool, login } = useRegistry();
let emptied: Buffer;
beforeAll(async () => {
  emptied = await emptiedRelease();
  await folder.write("emptied.zip", emptied);
  for (const archive of [await alone(), await release()])
    expect((await send("/rocrate/upload", archive)).status).toBe(200);
});
afterAll(() => expect(server().faults).toEqual([]));

const send = (path: string, archive: Buffer) => {
  const body = new FormData();
  body.set("file", new Blob([new Uint8Array(archive)], { type: "application/zip" }), "crate.zip");
  return server().request("POST", path, { token: ada().token, body });
};
const mutate = async (mutation: string, emptyLinked: boolean) => {
  const body = new FormData();
  const query = `mutation ($file: Upload!, $emptyLinked: Boolean!) { answer: ${mutation} }`;
  body.set("operations", JSON.stringify({ query, variables: { file: null, emptyLinked } }));
  body.set("map", JSON.stringify({ 0: ["variables.file"] }));
  body.set("0", new Blob([new Uint8Array(emptied)]), "crate.zip");
  const { body: answer } = await server().request<{ data: { answer: object } }>(
    "POST",
    "/graphql",
    { token: ada().token, body, headers: { "apollo-require-preflight": "true" } },
  );
  return answer.data.answer;
};
const revision = async () => (await server().deps.records.findMany([SUB]))[0]!.revision;

const CONFLICT = {
  identifier: SUB,
  code: "CRATE_EMPTIED",
  message: expect.stringContaining("emptyLinked=true"),
};
const REMOVAL = { changed: expect.arrayContaining([expect.objectContaining({ identifier: SUB })]) };

// Each upload without it fails, each dry run stores nothing: the order of these tests is free.
describe("an update that would remove every statement of a linked crate", () => {
  it("is refused over REST in the plan and by the upload, which name emptyLinked", async () => {
    expect((await send("/rocrate/validate?update=true", emptied)).body).toMatchObject({
      conforms: false,
      conflicting: [CONFLICT],
    });
    const upload = await send("/rocrate/upload?update=true", emptied);
    expect(upload.status).toBe(409);
    expect(upload.text).toContain("CRATE_EMPTIED");
    expect(upload.text).toContain("emptyLinked=true");
    const plan = await send("/rocrate/validate?update=true&emptyLinked=true", emptied);
    expect(plan.body).toMatchObject({ conforms: true, changes: REMOVAL });
    expect(await revision()).toBe(1);
  });

  it("is refused over GraphQL in the plan and by the upload, which name emptyLinked", async () => {
    const planned =
      "planCrate(input: { source: { archive: $file }, update: true, emptyLinked: $emptyLinked }) { plan { conforms " +
      "conflicting { identifier code message } changes { changed { identifier differences { pointer } } } } }";
    expect(await mutate(planned, false)).toMatchObject({
      plan: { conforms: false, conflicting: [CONFLICT] },
    });
    expect(await mutate(planned, true)).toMatchObject({
      plan: { conforms: true, changes: REMOVAL },
    });
    const { submission } = (await mutate(
      "uploadCrate(input: { source: { archive: $file }, update: true, emptyLinked: $emptyLinked }) " +
        "{ submission { id } }",
      false,
    )) as { submission: { id: string } };
    const submissionUUID = submission.id;
    for await (const _ of server().deps.jobs.watch(submissionUUID)) void _;
    expect(await server().deps.records.submission(submissionUUID)).toMatchObject({
      status: "failed",
      error: [{ code: "CRATE_EMPTIED", message: CONFLICT.message }],
    });
    expect(await revision()).toBe(1);
  });

  it("is refused by the command line, which names its option and then does it", async () => {
    await login();
    expect(await tool("upload emptied.zip --update")).toEqual(
      failure(/.*CRATE_EMPTIED.*; add --empty-linked to remove these statements/),
    );
    expect(await revision()).toBe(1);
    expect(await tool("upload emptied.zip --update --empty-linked")).toMatchObject({ status: 0 });
    expect(await revision()).toBe(2);
  });
});
