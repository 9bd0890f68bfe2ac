import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let owner: Person, member: Person, otherUser: Person, admin: Person;
let group: string;
beforeAll(async () => {
  server = await startServer();
  [owner, member, otherUser, admin] = [
    await server.person("owner"),
    await server.person("member"),
    await server.person("stranger"),
    await server.person("admin", { admin: true }),
  ];
});
beforeEach(async () => {
  group = (
    await server.request<{ "@id": string }>("POST", "/group", {
      token: owner.token,
      json: bodyOf("group", owner.id, { members: [] }),
    })
  ).body["@id"];
});
afterAll(() => server.stop());

const add = (user: string, token: string | undefined = owner.token, of = group) =>
  server.request(
    "PUT",
    `/group/${of}/addUser/?userID=${encodeURIComponent(user)}`,
    token === undefined ? {} : { token },
  );
const remove = (user: string, token = owner.token, of = group) =>
  server.request("PUT", `/group/${of}/rmUser/?userId=${encodeURIComponent(user)}`, { token });
const revision = (answer: { headers: Headers }) => /^"(\d+)-/.exec(answer.headers.get("etag")!)![1];

describe("adding a user to a group", () => {
  it("returns the whole group with the user among its members, as a new revision", async () => {
    const answer = await add(member.id);
    expect(answer).toMatchObject({
      status: 200,
      body: { "@id": group, name: "Microscopy", members: [member.id] },
    });
    expect(revision(answer)).toBe("2");
    expect((await server.request("GET", `/group/${group}`)).body).toEqual(answer.body);
    expect((await server.request("GET", `/user/${member.id}`)).body["organizations"]).toContain(
      group,
    );
  });
  it("gives the user the right to act for the group, and removing revokes it", async () => {
    await add(member.id);
    const create = () =>
      server.request("POST", "/dataset", { token: member.token, json: bodyOf("dataset", group) });
    expect((await create()).status).toBe(200);
    await remove(member.id);
    expect((await create()).status).toBe(403);
  });
  it("adds all users that are added concurrently", async () => {
    const users = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => (await server.person(`at-once-${n}`)).id),
    );
    const answers = await Promise.all(users.map((user) => add(user)));
    expect(answers.map(({ status }) => status)).toEqual(users.map(() => 200));
    expect(
      ((await server.request("GET", `/group/${group}`)).body["members"] as string[]).toSorted(),
    ).toEqual(users.toSorted());
  });
  it("leaves a member unchanged, in any spelling, and the owner, who is a member by ownership", async () => {
    await add(member.id);
    for (const user of [
      member.id,
      "https://n2t.net/ark:/99999/user-member",
      "ark:99999/usermember",
      owner.id,
    ]) {
      const answer = await add(user);
      expect(answer).toMatchObject({ status: 200, body: { members: [member.id] } });
      expect(revision(answer)).toBe("2");
    }
  });
  it("also answers without the final slash, and to the other spelling of the parameter", async () => {
    expect(
      (
        await server.request("PUT", `/group/${group}/addUser?userId=${member.id}`, {
          token: owner.token,
        })
      ).body["members"],
    ).toEqual([member.id]);
  });
  it("refuses a missing or malformed user with 422, at query.userID", async () => {
    expect(
      (await server.request("PUT", `/group/${group}/addUser/`, { token: owner.token })).body,
    ).toEqual({ detail: [{ loc: ["query", "userID"], msg: "Field required", type: "missing" }] });
    expect(await add("member@example.org")).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["query", "userID"], type: "value_error" }] },
    });
  });
  it("refuses an unknown user and a record that is no user with 404", async () => {
    const dataset = (
      await server.request<{ "@id": string }>("POST", "/dataset", {
        token: owner.token,
        json: bodyOf("dataset", owner.id),
      })
    ).body["@id"];
    for (const user of ["ark:99999/nobody", dataset, group])
      expect(await add(user), user).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  });
  it("refuses a group that is unknown, deleted, or another kind of record", async () => {
    expect((await add(member.id, owner.token, "ark:99999/no-group")).status).toBe(404);
    expect((await add(member.id, owner.token, owner.id)).status).toBe(404);
    await server.request("DELETE", `/group/${group}`, { token: owner.token });
    expect((await add(member.id)).status).toBe(410);
  });
  it(
    "is for the owner and administrators: 401 without a token, 403 for members and other " +
      "users",
    async () => {
      await add(member.id);
      expect(
        (await server.request("PUT", `/group/${group}/addUser/?userID=${otherUser.id}`)).status,
      ).toBe(401);
      for (const who of [member, otherUser])
        expect(await add(otherUser.id, who.token)).toMatchObject({
          status: 403,
          body: { code: "FORBIDDEN" },
        });
      expect((await add(otherUser.id, admin.token)).body["members"]).toEqual([
        member.id,
        otherUser.id,
      ]);
    },
  );
  it("compares the revision with If-Match", async () => {
    const put = (etag: string) =>
      server.request("PUT", `/group/${group}/addUser/?userID=${member.id}`, {
        token: owner.token,
        headers: { "If-Match": etag },
      });
    expect(await put('"7-0"')).toMatchObject({ status: 412, body: { code: "REVISION_MISMATCH" } });
    expect((await put('"1-0"')).status).toBe(200);
  });
  it("loses nobody when many users are added concurrently", async () => {
    const people = [member, otherUser, admin];
    await Promise.all(people.map((person) => add(person.id)));
    expect(
      (
        await server.request<{ members: string[] }>("GET", `/group/${group}`)
      ).body.members.toSorted(),
    ).toEqual(people.map(({ id }) => id).toSorted());
  });
});

describe("removing a user from a group", () => {
  it("returns the group without the user, in any spelling", async () => {
    const spelled = (
      await server.request<{ "@id": string }>("POST", "/group", {
        token: owner.token,
        json: bodyOf("group", owner.id, {
          members: ["https://n2t.net/ark:/99999/user-member", otherUser.id],
        }),
      })
    ).body["@id"];
    expect(await remove(member.id, owner.token, spelled)).toMatchObject({
      status: 200,
      body: { members: [otherUser.id] },
    });
  });
  it("leaves the group unchanged for a user who never was a member", async () => {
    const answer = await remove(otherUser.id);
    expect(answer).toMatchObject({ status: 200, body: { members: [] } });
    expect(revision(answer)).toBe("1");
  });
  it("refuses to remove the owner with 409, listed or not", async () => {
    expect(await remove(owner.id)).toMatchObject({ status: 409, body: { code: "OWNER_STAYS" } });
    expect(await remove(owner.id, admin.token)).toMatchObject({
      status: 409,
      body: { code: "OWNER_STAYS" },
    });
  });
  it(
    "refuses a malformed ARK with 422, at query.userId, and an unknown user or another " +
      "kind with 404",
    async () => {
      expect(await remove("nobody")).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ["query", "userId"] }] },
      });
      for (const user of ["ark:99999/nobody", group]) expect((await remove(user)).status).toBe(404);
    },
  );
  it("removes a member that is no user any more", async () => {
    const gone = await server.person("gone");
    await add(gone.id);
    await server.request("DELETE", `/user/${gone.id}`, { token: gone.token });
    expect((await add(gone.id)).status).toBe(410);
    expect(await remove(gone.id)).toMatchObject({ status: 200, body: { members: [] } });
  });
  it("is not for members", async () => {
    await add(member.id);
    expect((await remove(member.id, member.token)).status).toBe(403);
  });
});

describe("a group that owns records", () => {
  const refused = { status: 409, body: { code: "OWNS_RECORDS" } };
  it("is neither deleted nor archived before they are handed over, by any interface", async () => {
    const { body: record } = await server.request<{ "@id": string }>("POST", "/dataset", {
      token: owner.token,
      json: bodyOf("dataset", group),
    });
    const { token } = owner;
    const deleted = await server.request("DELETE", `/group/${group}`, { token });
    expect(deleted).toMatchObject(refused);
    expect(deleted.body["detail"]).toContain("owns 1 record");
    expect(await server.request("DELETE", `/${group}`, { token })).toMatchObject(refused);
    const bulk = await server.request("POST", "/records/delete", { token, json: { ids: [group] } });
    expect(bulk.body).toMatchObject([{ done: false, code: "OWNS_RECORDS" }]);
    const { body } = await server.graphql(
      "mutation ($id: ID!) { deleteRecord(input: { id: $id }) { revision } }",
      { id: group },
      token,
    );
    expect(body.errors?.[0]?.extensions.code).toBe("OWNS_RECORDS");
    const archived = { "@id": group, publicationStatus: "ARCHIVED" };
    expect(await server.request("PUT", "/publish", { token, json: archived })).toMatchObject(
      refused,
    );
    const handed = await server.request("POST", "/records/transfer", {
      token,
      json: { ids: [record["@id"]], owner: owner.id },
    });
    expect(handed.body).toMatchObject([{ done: true }]);
    expect((await server.request("DELETE", `/group/${group}`, { token })).status).toBe(200);
  });
});

it("no request ended in a fault", () => expect(server.faults).toEqual([]));
