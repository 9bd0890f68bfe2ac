/** Warnings of mutations: the record is stored, and something in it should be looked at. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Person, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(async () => {
  expect(server.faults).toEqual([]);
  await server.stop();
});

interface Written {
  id: string;
  revision: number;
  warnings: { code: string; message: string; pointer: string | null }[];
}

const WARNINGS = "revision warnings { code message pointer }";
const DATASET = {
  name: "Counts",
  description: "Counts of cells in each of the six images.",
  keywords: ["cells"],
  additionalProperties: { datePublished: "2026-01-31" },
};

async function mutate(mutation: string, input: object): Promise<Written> {
  const name = `${mutation[0]!.toUpperCase()}${mutation.slice(1)}Input`;
  const { body } = await server.graphql<Record<string, Written & { dataset: { id: string } }>>(
    `mutation ($input: ${name}!) { ${mutation}(input: $input) { dataset { id } ${WARNINGS} } }`,
    { input },
    ada.token,
  );
  expect(body).not.toHaveProperty("errors");
  const { dataset, ...written } = body.data[mutation]!;
  return { ...written, id: dataset.id };
}
const create = (more: object = {}, id?: string): Promise<Written> =>
  mutate("createDataset", { id, dataset: { owner: ada.id, ...DATASET, ...more } });

describe("the payload of a mutation", () => {
  it("has no warnings where nothing is wrong", async () => {
    const { id } = await create();
    // Another authority may know its own identifiers.
    const fine = await create({
      additionalProperties: { derivedFrom: [id, "ark:12345/elsewhere"] },
      license: "CC-BY-4.0",
    });
    expect(fine.warnings).toEqual([]);
  });

  it("names references that lead to no record, and to deleted ones", async () => {
    const { id: withdrawn } = await create();
    const { id: better } = await create();
    const removal = { id: withdrawn, successor: better };
    await server.graphql(
      "mutation ($input: DeleteRecordInput!) { deleteRecord(input: $input) { revision } }",
      { input: removal },
      ada.token,
    );
    const { id, warnings } = await create({
      additionalProperties: { derivedFrom: [better, "ark:99999/lost", withdrawn] },
    });
    expect(warnings).toEqual([
      {
        code: "REFERENCE_NOWHERE",
        message:
          "No record here has the identifier ark:99999/lost: correct it, or create that record.",
        pointer: "/derivedFrom/1",
      },
      {
        code: "REFERENCE_DELETED",
        message: `The record ${withdrawn} was deleted: name ${better} in its place.`,
        pointer: "/derivedFrom/2",
      },
    ]);
    const patch = { additionalProperties: { derivedFrom: [better] } };
    expect(await mutate("updateDataset", { id, patch })).toEqual({ id, revision: 2, warnings: [] });
  });

  it("names a license and dates that are stated otherwise than readers expect", async () => {
    const { warnings } = await create({
      license: "ask me",
      additionalProperties: { datePublished: "last spring" },
    });
    expect(warnings.map(({ code, pointer }) => [code, pointer])).toEqual([
      ["LICENSE_UNKNOWN", "/license"],
      ["DATE_INVALID", "/datePublished"],
    ]);
  });

  it.each(["0000-01-01", "0000-05-03T08:00:00Z", "99999-12-31"])(
    "warns of a date in a year that is none: %s",
    async (datePublished) => {
      const { warnings } = await create({ additionalProperties: { datePublished } });
      expect(warnings.map(({ code, pointer }) => [code, pointer])).toEqual([
        ["DATE_INVALID", "/datePublished"],
      ]);
    },
  );

  it("warns after a patch of any kind, and after a restored revision", async () => {
    const { id } = await create();
    const update =
      "mutation ($input: UpdateRecordInput!) { updateRecord(input: $input) { WARNINGS } }";
    const ask = async (query: string, input: object) =>
      (
        await server.graphql<Record<string, Written>>(
          query.replace("WARNINGS", WARNINGS),
          { input },
          ada.token,
        )
      ).body.data;
    const first = await ask(update, { id, patch: { license: "ask me" } });
    expect(first["updateRecord"]!.warnings).toHaveLength(1);
    await ask(update, { id, patch: { license: null } });
    const restored = await ask(
      "mutation ($input: RestoreRevisionInput!) { restoreRevision(input: $input) { WARNINGS } }",
      { id, revision: 2 },
    );
    expect(restored["restoreRevision"]!.warnings.map(({ code }) => code)).toEqual([
      "LICENSE_UNKNOWN",
    ]);
  });
});
