import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SERVED } from "../support/contract.js";
import type { ContractOperation } from "../support/contract.js";
import { nounOf } from "../../src/graphql/resolvers/types/mutations.js";
import { graphqlSchema } from "../../src/graphql/schema.js";
import type { JsonObject } from "../../src/model/field.js";
import type { KindName } from "../../src/model/kind.js";
import { bodyOf, commandOf } from "../support/bodies.js";
import { metadata, zip } from "../support/crates.js";
import { POSTS } from "./reads.js";
import { ACTORS, makeWorld, STATES, textOf, type Actor, type State, type World } from "./world.js";

/** Which tests are run. */
export interface Extent {
  /** How actors show who they are. */
  by: "token" | "session";
  /** States of the records that are written to. */
  states: readonly State[];
}

let world: World;

/** What is asked of one operation. */
interface Call {
  path?: string;
  query?: string;
  json?: unknown;
  form?: () => FormData;
  body?: string;
  headers?: Record<string, string>;
}
/** A verdict, and all that was said. */
interface Received {
  verdict: string;
  text: string;
}

/** Connections that stay open. Node's own client takes a third of the CPU time of `fetch`. */
const agent = new Agent({ keepAlive: true });
const send = async (
  method: string,
  path: string,
  headers: Record<string, string>,
  sent?: FormData | string,
): Promise<{ status: number; headers: string; bytes: Buffer }> => {
  const form = sent instanceof FormData ? new Response(sent) : undefined;
  const body = form ? Buffer.from(await form.arrayBuffer()) : (sent as string | undefined);
  return new Promise((resolve, reject) => {
    const asked = request(world.server.url + path, { method, agent }, (answer) => {
      buffer(answer).then(
        (bytes) =>
          resolve({
            status: answer.statusCode!,
            headers: answer.rawHeaders.join("\n"),
            bytes: answer.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes,
          }),
        reject,
      );
    });
    asked.on("error", reject);
    for (const [name, value] of Object.entries({
      Accept: "*/*",
      "Accept-Encoding": "gzip",
      ...(typeof sent === "string" ? { "Content-Type": "text/plain;charset=UTF-8" } : {}),
      ...(form ? { "Content-Type": form.headers.get("Content-Type")! } : {}),
    }))
      asked.setHeader(name, value);
    for (const [name, value] of Object.entries(headers)) asked.setHeader(name, value);
    asked.end(body);
  });
};

const rest = async (
  operation: ContractOperation,
  target: string,
  actor: Actor,
  { path, query = "", json, form, body, headers = {} }: Call = {},
): Promise<Received> => {
  const where =
    path ??
    operation.path.replace(
      /ark:\{NAAN\}\/(?:\{organization\}\/)?\{(?:postfix|download_id)\}/,
      encodeURI(target),
    );
  const sent = json !== undefined ? JSON.stringify(json) : (body ?? form?.());
  const answer = await send(
    operation.method.toUpperCase(),
    where + query,
    {
      ...world.credentials(actor),
      ...(json === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    sent,
  );
  const { status } = answer;
  const text = `${answer.headers}\n${await textOf(answer.bytes)}`;
  if ((status >= 200 && status < 300) || status === 304 || status === 302)
    return { verdict: "done", text };
  return {
    verdict: status === 422 ? "VALIDATION" : (codeOf(answer.bytes) ?? String(status)),
    text,
  };
};

/** The code of a refusal. */
function codeOf(bytes: Buffer): string | undefined {
  try {
    return (JSON.parse(bytes.toString()) as { code?: string }).code;
  } catch {
    return undefined;
  }
}

const graphql = async (
  document: string,
  variables: object,
  actor: Actor,
  file?: { variable: string; bytes: Uint8Array | string },
): Promise<Received & { data: JsonObject | null }> => {
  const headers: Record<string, string> = {
    ...world.credentials(actor),
    ...(file ? { "apollo-require-preflight": "1" } : { "Content-Type": "application/json" }),
  };
  let body: FormData | string = JSON.stringify({ query: document, variables });
  if (file) {
    body = new FormData();
    body.set(
      "operations",
      JSON.stringify({ query: document, variables: { ...variables, [file.variable]: null } }),
    );
    body.set("map", JSON.stringify({ 0: [`variables.${file.variable}`] }));
    body.set(
      "0",
      new Blob([Buffer.from(file.bytes as Uint8Array)]),
      file.variable === "crate" ? "crate.zip" : "file.csv",
    );
  }
  const text = (await send("POST", "/graphql", headers, body)).bytes.toString();
  const { data = null, errors } = JSON.parse(text) as {
    data?: JsonObject | null;
    errors?: { message: string; extensions?: { code?: string } }[];
  };
  const missing = data !== null && Object.values(data).every((value) => value === null);
  return {
    verdict: errors
      ? (errors[0]!.extensions?.code ?? errors[0]!.message)
      : missing
        ? "NOT_FOUND"
        : "done",
    text,
    data,
  };
};

/** Fails for whatever an actor heard that is not for them. */
function assertNoLeak(actor: Actor, what: string, { text }: Received): void {
  for (const [name, { text: secret, readers }] of Object.entries(world.secrets))
    if (!readers.includes(actor) && text.includes(secret))
      throw new Error(
        `${what}: ${actor} heard the secret ${name} at ` +
          `"…${text.slice(Math.max(0, text.indexOf(secret) - 80), text.indexOf(secret) + 40)}…"`,
      );
}

const operationOf = (id: string): ContractOperation =>
  SERVED.find(({ operationId }) => operationId === id)!;

const SUBMISSION = "id status sha256 record { id }";
const SUBMITTED = `{ submission { ${SUBMISSION} } }`;

/** Operations that write, by the write that is tried with them: `OUTSIDE` has what is not. */
const REST: Record<string, string> = {
  ...Object.fromEntries(
    "user group software dataset computation evidencegraph schema project organization"
      .split(" ")
      .flatMap((kind) => [
        [`create_${kind}`, "claim"],
        [`update_${kind}`, "replace"],
        [`patch_${kind}`, "replace"],
        [`delete_${kind}`, "delete"],
      ]),
  ),
  token: "login",
  login: "login",
  request_access: "ownRequest",
  decide_access_request: "ownRequest",
  create_access_token: "ownCredential",
  revoke_access_token: "ownCredential",
  change_password: "ownCredential",
  reset_password: "ownCredential",
  admin_set_account: "administration",
  admin_password_reset: "administration",
  publish_records: "several",
  transfer_records: "several",
  delete_records: "several",
  restore_revision: "restore",
  add_group_user: "addMember",
  remove_group_user: "removeMember",
  execute_computation: "execute",
  delete_rocrate: "delete",
  upload_crate_async: "claimByCrate",
  upload_crate: "claimByCrate",
  validate_crate: "plan",
  create_crate_metadata: "claimByCrate",
  rescore: "rescore",
  update_datadownload: "replace",
  patch_datadownload: "replace",
  delete_datadownload: "delete",
  create_download: "claim",
  register_download: "register",
  upload_datadownload: "content",
  publish: "publish",
  reserve_doi: "doi",
  create_review_link: "review",
  revoke_review_link: "review",
  record_lineage: "lineage",
  build_evidence: "build",
  update_ark: "replace",
  patch_ark: "replace",
  delete_ark: "delete",
  validate_table: "table",
};
/** Operations that are tried elsewhere. */
const OUTSIDE: Record<string, string> = {
  cancel_upload: "test/rest/submissions.test.ts",
  retry_upload: "test/rest/submissions.test.ts",
  begin_device_login: "test/rest/token/device.test.ts",
  device_token: "test/rest/token/device.test.ts",
  refresh_token: "test/rest/token/refresh.test.ts",
  revoke_refresh_token: "test/rest/token/refresh.test.ts",
  start_session: "signs a browser in: test/rest/sessions.test.ts",
  end_session: "signs the actor out: test/rest/sessions.test.ts",
};

/** Mutations, by the write that is tried with them. */
const MUTATIONS: Record<string, string> = {
  ...Object.fromEntries(
    [
      "User",
      "Group",
      "Organization",
      "Project",
      "Software",
      "Dataset",
      "Computation",
      "EvidenceGraph",
      "DataDownload",
      "Schema",
    ].flatMap((type) => [
      [`create${type}`, "claim"],
      [`update${type}`, "replace"],
      [`replace${type}`, "replace"],
    ]),
  ),
  addGroupMember: "addMember",
  removeGroupMember: "removeMember",
  buildEvidenceGraph: "build",
  // What concerns the caller alone, or administrators: test/rest/credentials.test.ts.
  requestAccess: "ownRequest",
  decideAccessRequest: "ownRequest",
  createAccessToken: "ownCredential",
  revokeAccessToken: "ownCredential",
  revokeReviewLink: "review",
  changePassword: "ownCredential",
  resetPassword: "ownCredential",
  updateAccount: "administration",
  createPasswordReset: "administration",
  // By the operations for one record: test/rest/bulk.test.ts compares the results.
  publishRecords: "several",
  transferRecords: "several",
  deleteRecords: "several",
  restoreRevision: "restore",
  cancelSubmission: "cancel",
  retrySubmission: "cancel",
  deleteRecord: "delete",
  executeComputation: "execute",
  signIn: "login",
  planCrate: "plan",
  publishRecord: "publish",
  recordLineage: "lineage",
  registerDownload: "register",
  rescoreCrate: "rescore",
  reserveDoi: "doi",
  createReviewLink: "review",
  updateRecord: "replace",
  uploadContent: "content",
  deleteContent: "content",
  uploadCrate: "claimByCrate",
  validateTable: "table",
};

let counter = 0;
/** One write over each interface, as an actor would send it about a record. */
type Write = (
  target: string,
  actor: Actor,
  state: State,
) => {
  rest: [operationId: string, Call][];
  graphql: () => Promise<Received>;
  /** Other mutations of the same rights. */
  more?: [mutation: string, () => Promise<Received>][];
  states?: readonly State[];
};
const ownerOf = (actor: Actor) =>
  (world.people[actor as keyof typeof world.people] ?? world.people.other).id;
const kindIn = (state: State): KindName =>
  state === "deleted"
    ? "dataset"
    : state === "crate"
      ? "rocrate"
      : state === "computation" || state === "group"
        ? state
        : "datadownload";
const fileForm =
  (bytes: string | Uint8Array, more: Record<string, string> = {}, name = "file.csv") =>
  () => {
    const form = new FormData();
    for (const [field, text] of Object.entries(more)) form.set(field, text);
    form.set(
      "file",
      new Blob(
        [Buffer.from(bytes as Uint8Array)],
        name.endsWith(".zip") ? { type: "application/zip" } : {},
      ),
      name,
    );
    return form;
  };
const input = (document: JsonObject) =>
  Object.fromEntries(
    Object.entries(document)
      .filter(([name]) => name !== "@context" && name !== "@id")
      .map(([name, value]) => [
        name === "@type" ? "type" : name,
        name === "command" ? commandOf(value) : value,
      ]),
  );
const identified = (document: JsonObject) => ({ id: document["@id"], i: input(document) });
const nounIn = (kind: KindName): string => nounOf(GRAPHQL_TYPE[kind]!);
const GRAPHQL_TYPE: Partial<Record<KindName, string>> = {
  dataset: "Dataset",
  datadownload: "DataDownload",
  computation: "Computation",
  group: "Group",
  software: "Software",
};

const JSON_PATCH = { "Content-Type": "application/json-patch+json" };

const WRITES: Record<string, Write> = {
  delete: (target, actor, state) => ({
    rest: [
      ["delete_ark", {}],
      [`delete_${kindIn(state)}`, {}],
    ],
    graphql: () =>
      graphql(
        "mutation ($id: ID!) { deleteRecord(input: { id: $id }) { record { id document } } }",
        { id: target },
        actor,
      ),
  }),
  restore: (target, actor) => ({
    rest: [["restore_revision", { path: `/restore/${encodeURI(target)}`, query: "?revision=1" }]],
    graphql: () =>
      graphql(
        "mutation ($id: ID!) { restoreRevision(input: { id: $id, revision: 1 }) { record { id document } } }",
        { id: target },
        actor,
      ),
    // What a crate stated otherwise than clients may is refused, as it is in a replacement.
    states: STATES.filter((each) => each !== "crate" && each !== "crateMember"),
  }),
  publish: (target, actor) => ({
    rest: [
      ["publish", { path: "/publish", json: { "@id": target, publicationStatus: "ARCHIVED" } }],
    ],
    graphql: () =>
      graphql(
        "mutation ($id: ID!) { publishRecord(input: { id: $id, publicationStatus: DRAFT }) { record { id document } } }",
        { id: target },
        actor,
      ),
  }),
  replace: (target, actor, state) => {
    const kind = kindIn(state);
    const document = bodyOf(kind === "rocrate" ? "dataset" : kind, world.group, {
      "@id": target,
      name: `Changed ${++counter}`,
      ...(kind === "datadownload" ? { sha256: null, contentSize: null } : {}),
      ...(kind === "group"
        ? { owner: world.people.owner.id, members: [world.people.member.id] }
        : {}),
    });
    // As a patch, so that it meets the rules that the replacement meets.
    const value = kind === "group" ? { "@type": "Organization", ...document } : document;
    const whole = [{ op: "replace", path: "", value }];
    return {
      rest: [
        ["update_ark", { json: document }],
        [
          `update_${kind}`,
          kind === "datadownload" ? { json: document } : { path: `/${kind}`, json: document },
        ],
        ["patch_ark", { json: whole, headers: JSON_PATCH }],
        [`patch_${kind}`, { json: whole, headers: JSON_PATCH }],
      ],
      graphql: () =>
        graphql(
          `mutation ($id: ID!, $i: ${GRAPHQL_TYPE[kind]}Input!) { replace${GRAPHQL_TYPE[kind]}(` +
            `input: { id: $id, ${nounIn(kind)}: $i }) { ${nounIn(kind)} { id document } } }`,
          { id: target, i: input(document) },
          actor,
        ),
      // A patch leaves what a crate stated otherwise than clients may, so it is refused there.
      more: (state === "crateMember" ? [] : [GRAPHQL_TYPE[kind]!, "Record"]).map((type) => [
        `update${type}`,
        () =>
          graphql(
            `mutation ($i: Update${type}Input!) { update${type}(input: $i) { ${nounOf(type)} { id document } } }`,
            { i: { id: target, patch: { name: document["name"] } } },
            actor,
          ),
      ]),
      states: STATES.filter((each) => each !== "crate"),
    };
  },
  claim: (target, actor) => {
    const below = (kind: KindName) =>
      bodyOf(kind, ownerOf(actor), {
        "@id": `${target}/claim-${++counter}`,
        ...(kind === "datadownload" ? { sha256: null, contentSize: null } : {}),
      });
    const dataset = below("dataset");
    return {
      rest: [
        ["create_dataset", { path: "/dataset", json: dataset }],
        ["create_software", { path: "/software", json: below("software") }],
        ["create_download", { path: "/download", json: below("datadownload") }],
        ["create_group", { path: "/group", json: below("group") }],
      ],
      graphql: () =>
        graphql(
          "mutation ($id: ID, $i: DatasetInput!) { createDataset(input: { id: $id, dataset: $i }) " +
            "{ dataset { id } } }",
          identified(below("dataset")),
          actor,
        ),
    };
  },
  register: (target, actor) => {
    const below = () =>
      bodyOf("datadownload", ownerOf(actor), {
        "@id": `${target}/file-${++counter}`,
        sha256: null,
        contentSize: null,
      });
    return {
      rest: [
        [
          "register_download",
          { path: "/register", form: fileForm("bytes", { download: JSON.stringify(below()) }) },
        ],
      ],
      graphql: () =>
        graphql(
          "mutation ($id: ID, $i: DataDownloadInput!, $file: Upload!) { registerDownload(input: { " +
            "id: $id, dataDownload: $i, file: $file }) { dataDownload { id } } }",
          identified(below()),
          actor,
          { variable: "file", bytes: "bytes" },
        ),
    };
  },
  content: (target, actor) => ({
    rest: [["upload_datadownload", { form: fileForm(`bytes ${++counter}`) }]],
    states: STATES.filter((each) => kindIn(each) === "datadownload"),
    graphql: () =>
      graphql(
        "mutation ($id: ID!, $file: Upload!) { uploadContent(input: { id: $id, file: $file }) { revision } }",
        { id: target },
        actor,
        { variable: "file", bytes: `bytes ${++counter}` },
      ),
    more: [
      [
        "deleteContent",
        () =>
          graphql(
            "mutation ($id: ID!) { deleteContent(input: { id: $id }) { revision } }",
            { id: target },
            actor,
          ),
      ],
    ],
  }),
  build: (target, actor) => ({
    rest: [["build_evidence", {}]],
    graphql: () =>
      graphql(
        `mutation ($id: ID!) { buildEvidenceGraph(input: { id: $id }) ${SUBMITTED} }`,
        { id: target },
        actor,
      ),
  }),
  lineage: (target, actor) => {
    const event = () => ({
      eventType: "COMPLETE",
      eventTime: "2026-11-24T10:00:00Z",
      run: { runId: randomUUID() },
      job: { namespace: "world", name: `job ${++counter}` },
      outputs: [{ namespace: "world", name: target }],
    });
    return {
      rest: [
        ["record_lineage", { query: `?owner=${encodeURIComponent(world.group)}`, json: event() }],
      ],
      graphql: () =>
        graphql(
          "mutation ($e: JSON!, $o: ID) { recordLineage(input: { events: $e, owner: $o }) { events } }",
          { e: event(), o: world.group },
          actor,
        ),
    };
  },
  execute: (target, actor) => ({
    rest: [["execute_computation", {}]],
    graphql: () =>
      graphql(
        `mutation ($id: ID!) { executeComputation(input: { id: $id }) ${SUBMITTED} }`,
        { id: target },
        actor,
      ),
  }),
  doi: (target, actor) => ({
    rest: [["reserve_doi", {}]],
    graphql: () =>
      graphql(
        "mutation ($id: ID!) { reserveDoi(input: { id: $id }) { doi } }",
        { id: target },
        actor,
      ),
  }),
  review: (target, actor) => ({
    rest: [["create_review_link", { json: {} }]],
    graphql: () =>
      graphql(
        "mutation ($id: ID!) { createReviewLink(input: { id: $id }) { address } }",
        { id: target },
        actor,
      ),
  }),
  rescore: (target, actor) => ({
    rest: [["rescore", {}]],
    graphql: () =>
      graphql(
        `mutation ($id: ID!) { rescoreCrate(input: { id: $id }) ${SUBMITTED} }`,
        { id: target },
        actor,
      ),
  }),
  addMember: (target, actor) => ({
    rest: [["add_group_user", { query: `?userID=${world.people.other.id}` }]],
    states: ["group", "deleted", "draft"],
    graphql: () =>
      graphql(
        "mutation ($id: ID!, $user: ID!) { addGroupMember(input: { group: $id, user: $user }) { revision } }",
        { id: target, user: world.people.other.id },
        actor,
      ),
  }),
  removeMember: (target, actor) => ({
    rest: [["remove_group_user", { query: `?userId=${world.people.member.id}` }]],
    states: ["group", "deleted", "draft"],
    graphql: () =>
      graphql(
        "mutation ($id: ID!, $user: ID!) { removeGroupMember(input: { group: $id, user: $user }) { revision } }",
        { id: target, user: world.people.member.id },
        actor,
      ),
  }),
};

/** Writes to a record, or below it, that those without a right over it never do. */
const CHANGES: ReadonlySet<string> = new Set([
  "delete",
  "publish",
  "replace",
  "claim",
  "register",
  "content",
  "addMember",
  "removeMember",
]);

/** All that is stored of a record: its document, owner, status and tombstone. */
const stateOf = async (target: string): Promise<string> => {
  const [record] = await world.server.deps.records.findMany([target]);
  const document = Buffer.from(record!.document).toString();
  // Links of other records are no part of it.
  return JSON.stringify({ ...record, document, newestBacklink: undefined });
};

/** Over REST and GraphQL alike: the same verdict for the same actor on the same record. */
export function writeTests({ by, states }: Extent): void {
  beforeAll(async () => {
    world = await makeWorld(by);
  }, 600_000);
  afterAll(async () => {
    agent.destroy();
    await world.server.stop();
  });

  describe("every write is in the table", () => {
    it("of the contract", () =>
      expect([...Object.keys(REST), ...Object.keys(OUTSIDE)].toSorted()).toEqual(
        SERVED.filter(({ method, operationId }) => method !== "get" && !(operationId in POSTS))
          .map(({ operationId }) => operationId)
          .toSorted(),
      ));
    it("of the GraphQL schema", async () => {
      const schema = await graphqlSchema();
      expect(Object.keys(MUTATIONS).toSorted()).toEqual(
        Object.keys(schema.getMutationType()!.getFields()).toSorted(),
      );
      // Heard over a connection that stays open: test/graphql/subscriptions.test.ts has one with the
      // rule of `submission`, test/graphql/changes.test.ts one with the rules of feeds.
      expect(Object.keys(schema.getSubscriptionType()!.getFields()).toSorted()).toEqual([
        "recordChanges",
        "submissionProgress",
      ]);
    });
    it("and what is written over one interface is written over the other", () => {
      const writes = new Set(Object.values(REST));
      expect([...writes].filter((write) => !Object.values(MUTATIONS).includes(write))).toEqual([]);
      expect(
        Object.values(MUTATIONS).filter((write) => write !== "cancel" && !writes.has(write)),
      ).toEqual([]);
    });
  });

  describe("writing", () => {
    it.each(Object.keys(WRITES))(
      "%s is allowed and refused alike over both interfaces",
      async (name) => {
        const differences: string[] = [];
        const verdicts = new Set<string>();
        const { states: possible = STATES } = WRITES[name]!("ark:99999/x", "owner", "draft");
        for (const state of possible.filter((each) => states.includes(each))) {
          let target = await world.fresh(state);
          let before = await stateOf(target);
          // A write that was done has used the record up, unless the record is the same as before.
          const unused = async (): Promise<string> => {
            if ((await stateOf(target)) === before) return target;
            target = await world.fresh(state);
            before = await stateOf(target);
            return target;
          };
          // Those who may come last: what they do uses the record up.
          for (const actor of ["anonymous", "other", "member", "owner", "admin"] as const) {
            const seen: [string, string][] = [];
            const run = async (
              what: string,
              work: (write: ReturnType<Write>) => Promise<Received>,
            ): Promise<void> => {
              const received = await work(WRITES[name]!(await unused(), actor, state));
              assertNoLeak(actor, `${what} of ${state}`, received);
              seen.push([what, received.verdict]);
              verdicts.add(received.verdict);
              if (received.verdict !== "done" && (await stateOf(target)) !== before)
                differences.push(
                  `${state} by ${actor}: ${what} was refused, and changed the record`,
                );
              if (
                received.verdict === "done" &&
                CHANGES.has(name) &&
                (actor === "other" || actor === "anonymous")
              )
                differences.push(`${state} by ${actor}: ${what} was done`);
            };
            const { rest: operations, more = [] } = WRITES[name]!(target, actor, state);
            for (const [index, [id]] of operations.entries())
              await run(id, (write) => rest(operationOf(id), target, actor, write.rest[index]![1]));
            await run("GraphQL", (write) => write.graphql());
            for (const [index, [what]] of more.entries())
              await run(what, (write) => write.more![index]![1]());
            if (new Set(seen.map(([, verdict]) => verdict)).size > 1)
              differences.push(
                `${state} by ${actor}: ${seen.map((each) => each.join(" ")).join(", ")}`,
              );
          }
        }
        expect(differences).toEqual([]);
        expect([...verdicts]).toEqual(
          expect.arrayContaining([
            "NOT_AUTHENTICATED",
            name === "execute" ? "NO_CONTAINER_ENGINE" : name === "doi" ? "NO_DOI_SERVICE" : "done",
          ]),
        );
      },
      600_000,
    );

    // It takes as long as all others together.
    if (states.includes("published"))
      it("of a crate below a record is refused alike as an archive, as a document and in a dry run", async () => {
        for (const state of ["published", "crate"] as const) {
          const target = await world.fresh(state);
          for (const actor of ACTORS) {
            const may =
              actor === "admin" || actor === "owner" || (actor === "member" && state !== "crate");
            const document = () =>
              JSON.stringify(metadata([], { "@id": `${target}/crate-${++counter}` }));
            const archive = async () => zip({ "ro-crate-metadata.json": document() });
            const json = { "Content-Type": "application/ld+json" };
            const received = [
              await rest(operationOf("upload_crate"), "", actor, {
                form: fileForm(await archive(), {}, "crate.zip"),
              }),
              await rest(operationOf("create_crate_metadata"), "", actor, {
                body: document(),
                headers: json,
              }),
            ].map(({ verdict }) => verdict);
            expect(received, `${state} ${actor}`).toEqual(
              Array(2).fill(
                actor === "anonymous" ? "NOT_AUTHENTICATED" : may ? "done" : "IDENTIFIER_BELOW",
              ),
            );
            const plans = [
              await rest(operationOf("validate_crate"), "", actor, {
                body: document(),
                headers: json,
              }),
              await graphql(
                "mutation ($m: JSON!) { planCrate(input: { source: { metadata: $m } }) { plan { " +
                  "conforms conflicting { code } } } }",
                { m: JSON.parse(document()) as JsonObject },
                actor,
              ),
              await graphql(
                "mutation ($crate: Upload!) { planCrate(input: { source: { archive: $crate } }) { " +
                  "plan { conforms conflicting { code } } } }",
                {},
                actor,
                { variable: "crate", bytes: await archive() },
              ),
            ];
            for (const { verdict, text } of plans) {
              expect(verdict, `${state} ${actor}`).toBe(
                actor === "anonymous" ? "NOT_AUTHENTICATED" : "done",
              );
              if (actor !== "anonymous")
                expect(text.includes("IDENTIFIER_BELOW"), `${state} ${actor}`).toBe(!may);
            }
            if (state === "crate") continue;
            // Answered before the crate is read: how it ends is in the submission.
            const queued = [
              await rest(operationOf("upload_crate_async"), "", actor, {
                form: fileForm(await archive(), {}, "crate.zip"),
              }),
              await graphql(
                `mutation ($crate: Upload!) { uploadCrate(input: { source: { archive: $crate } }) ${SUBMITTED} }`,
                {},
                actor,
                { variable: "crate", bytes: await archive() },
              ),
              await graphql(
                `mutation ($m: JSON!) { uploadCrate(input: { source: { metadata: $m } }) ${SUBMITTED} }`,
                { m: JSON.parse(document()) as JsonObject },
                actor,
              ),
            ];
            for (const { verdict, text } of queued) {
              expect(verdict).toBe(actor === "anonymous" ? "NOT_AUTHENTICATED" : "done");
              const id = /"(?:submissionUUID|submission":\{"id)":"([^"]+)"/.exec(text)?.[1];
              if (id)
                await expect
                  .poll(async () => (await world.server.deps.records.submission(id))!.status, {
                    timeout: 20_000,
                  })
                  .toBe(may ? "finished" : "failed");
            }
          }
        }
      }, 600_000);

    it("of content, logins and checks of tables follows the same rules", async () => {
      for (const actor of ACTORS) {
        const target = await world.fresh("draft");
        const received = await rest(operationOf("upload_datadownload"), target, actor, {
          form: fileForm("new bytes"),
        });
        expect(received.verdict, actor).toBe(
          actor === "anonymous" ? "NOT_AUTHENTICATED" : actor === "other" ? "FORBIDDEN" : "done",
        );
        const wrong = { username: world.people.owner.email, password: "wrong" };
        const logins = [
          await rest(operationOf("token"), "", actor, { json: wrong }),
          await rest(operationOf("login"), "", actor, { json: wrong }),
          await graphql(
            'mutation { signIn(input: { username: "nobody@example.org", password: "wrong" }) { token { accessToken } } }',
            {},
            actor,
          ),
        ];
        expect(logins.slice(0, 2).map(({ verdict }) => verdict)).toEqual([
          "BAD_CREDENTIALS",
          "BAD_CREDENTIALS",
        ]);
        for (const target of [
          world.targets["deleted"]!,
          world.targets["embargoed"]!,
          world.targets["nothing"]!,
        ]) {
          const checks = [
            await rest(operationOf("validate_table"), target, actor, { form: fileForm("a,b\n") }),
            await graphql(
              "mutation ($id: ID!, $file: Upload!) { validateTable(input: { schema: $id, file: $file }) " +
                "{ conforms } }",
              { id: target },
              actor,
              { variable: "file", bytes: "a,b\n" },
            ),
          ];
          for (const each of checks) assertNoLeak(actor, "table", each);
          // A form of GraphQL is read with a token only, whatever it asks for: its file is received
          // before the operation is known.
          expect(checks[1]!.verdict).toBe(
            actor === "anonymous" ? "NOT_AUTHENTICATED" : checks[0]!.verdict,
          );
        }
      }
    }, 60_000);
  });
}
