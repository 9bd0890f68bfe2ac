import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildSchema, type GraphQLSchema } from "graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PATHS } from "../../cli/demo/crate-files.js";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { packageRoot } from "../../src/package-root.js";
import { SERVED } from "../support/contract.js";
import { bodyOf } from "../support/bodies.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Answer, Json, User } from "../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
let bob: User;
let crate: string;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  [ada, bob] = await Promise.all([registry.user("Ada"), registry.user("Bob")]);
  const { rocrateIdentifier } = await registry.take(await buildDemoCrate(), ada.token);
  crate = rocrateIdentifier as string;
});
afterAll(() => registry?.stop());

const ask = async (query: string, variables: object = {}, token?: string): Promise<Json> => {
  const { body, text } = await registry.graphql(query, variables, token);
  if (body["errors"]) throw new Error(text);
  return body["data"] as Json;
};
const codeOf = ({ body }: Answer): unknown => body["errors"]?.[0]?.extensions.code;
const text = async (path: string, token?: string): Promise<string> =>
  (await registry.ask(path, { token })).text;
const created = async (kind: "dataset" | "group", more: Json = {}): Promise<string> => {
  const { body } = await registry.ask(`/${kind}`, {
    token: ada.token,
    body: bodyOf(kind, ada.ark, more),
  });
  return body["@id"] as string;
};
const replaced = (ark: string, body: Json): Promise<Answer> =>
  registry.ask(`/${ark}`, { method: "PUT", token: ada.token, body });

describe("revisions", () => {
  let ark: string;
  beforeAll(async () => {
    ark = await created("dataset", { name: "one", description: "the first description" });
    const { body } = await registry.ask(`/${ark}`);
    for (const name of ["two", "three", "four"]) await replaced(ark, { ...body, name });
    await replaced(ark, { ...body, name: "five", keywords: ["new"], size: 5 });
  });

  it("have the document that REST returns for the revision", async () => {
    const { revision } = await ask(
      "query ($id: ID!) { revision(id: $id, number: 2) { number action by { id text } document } }",
      { id: ark },
    );
    expect(revision).toMatchObject({
      number: 2,
      action: "UPDATE",
      by: { id: ada.ark, text: ada.ark },
    });
    expect(revision.document).toEqual(JSON.parse(await text(`/${ark}?revision=2`)));
  });

  it("say what differs between any two of them, with both values", async () => {
    const { revision } = await ask(
      `query ($id: ID!) { revision(id: $id, number: 5) {
        differences(since: 2) { pointer kind before after } } }`,
      { id: ark },
    );
    expect(revision.differences).toContainEqual({
      pointer: "/name",
      kind: "CHANGED",
      before: "two",
      after: "five",
    });
    expect(revision.differences).toContainEqual({
      pointer: "/size",
      kind: "ADDED",
      before: null,
      after: 5,
    });
    expect(revision.differences).toHaveLength(3);
    const { revisions } = await ask(
      `query ($id: ID!) { revisions(id: $id, first: 2) { totalCount nodes {
        number differences { pointer } } } }`,
      { id: ark },
    );
    expect(revisions).toMatchObject({ totalCount: 5, nodes: [{ number: 5 }, { number: 4 }] });
    expect(revisions.nodes[1].differences).toEqual([{ pointer: "/name" }]);
  });

  it("refuse a later revision to compare with, and one that does not exist", async () => {
    const query = `query ($id: ID!, $since: Int!) { revision(id: $id, number: 2) {
      differences(since: $since) { pointer } } }`;
    for (const since of [2, 9])
      expect(codeOf(await registry.graphql(query, { id: ark, since }))).toBe("VALIDATION");
    for (const since of [0, -3])
      expect(codeOf(await registry.graphql(query, { id: ark, since }))).toBe("NOT_FOUND");
    expect(
      codeOf(
        await registry.graphql("query ($id: ID!) { revision(id: $id, number: 77) { action } }", {
          id: ark,
        }),
      ),
    ).toBe("NOT_FOUND");
  });

  it("of a deleted record are for its owner only", async () => {
    const gone = await created("dataset", { name: "gone" });
    await registry.ask(`/${gone}`, { method: "DELETE", token: ada.token });
    const query = "query ($id: ID!) { revisions(id: $id) { nodes { action document } } }";
    const { revisions } = await ask(query, { id: gone }, ada.token);
    expect(revisions.nodes.map(({ action }: Json) => action)).toEqual(["DELETE", "CREATE"]);
    expect(revisions.nodes[1].document.name).toBe("gone");
    expect(codeOf(await registry.graphql(query, { id: gone }, bob.token))).toBe("GONE");
    expect(codeOf(await registry.graphql(query, { id: gone }))).toBe("GONE");
  });

  it("of a user hide private members from everybody else", async () => {
    const query = `query ($id: ID!) { revision(id: $id, number: 1) { document } }`;
    expect((await ask(query, { id: ada.ark }, ada.token))["revision"].document).toHaveProperty(
      "email",
    );
    expect((await ask(query, { id: ada.ark }, bob.token))["revision"].document).not.toHaveProperty(
      "email",
    );
  });
});

describe("texts of a record", () => {
  it("are those of REST: Turtle, N-Quads and the citation", async () => {
    const ark = await created("dataset");
    const { record } = await ask(
      "query ($id: ID!) { record(id: $id) { turtle: as(format: TURTLE) { text } nquads: as(format: N_QUADS) { text } " +
        "erc: as(format: ERC) { text mediaType } } }",
      { id: ark },
    );
    expect(record.turtle.text).toBe(await text(`/${ark}?format=turtle`));
    expect(record.nquads.text).toBe(await text(`/${ark}?format=nquads`));
    expect(record.erc.text).toBe(await text(`/${ark}?info`));
    expect(record.turtle.text).toContain("schema:name");
  });

  it("are null for what is not stored here", async () => {
    const ark = await created("dataset", { usedBy: ["ark:99999/nowhere"] });
    const { record } = await ask(
      `query ($id: ID!) { record(id: $id) { ... on Dataset { usedBy { nodes {
        id turtle: as(format: TURTLE) { text } erc: as(format: ERC) { text } shapeReport { conforms } } } } } }`,
      { id: ark },
    );
    expect(record.usedBy.nodes).toEqual([
      { id: "ark:99999/nowhere", turtle: null, erc: null, shapeReport: null },
    ]);
  });
});

describe("a crate", () => {
  it("has the metadata document of REST", async () => {
    const { roCrate } = await ask("query ($id: ID!) { roCrate(id: $id) { metadata } }", {
      id: crate,
    });
    expect(roCrate.metadata).toEqual(JSON.parse(await text(`/rocrate/${crate}`)));
  });

  it("counts its records as the summary of REST does", async () => {
    const { roCrate } = await ask(
      "query ($id: ID!) { roCrate(id: $id) { recordCounts { kind count } } }",
      { id: crate },
    );
    const { counts } = (await registry.ask(`/rocrate/summary/${crate}`)).body;
    const sum = (numbers: number[]): number => numbers.reduce((all, number) => all + number, 0);
    expect(sum(roCrate.recordCounts.map(({ count }: Json) => count))).toBe(
      sum(Object.values(counts as Record<string, number>)),
    );
    expect(roCrate.recordCounts).toContainEqual({
      kind: "COMPUTATION",
      count: counts["Computation"],
    });
  });

  it("lists its files with size and hash, in pages, by size, and with addresses that answer", async () => {
    const query = `query ($id: ID!, $first: Int, $after: String, $minSize: BigInt) {
      roCrate(id: $id) { files(first: $first, after: $after, minSize: $minSize) {
        totalCount nodes { path size sha256 mediaType address readable record { id name } }
        pageInfo { hasNextPage endCursor } } } }`;
    const all = (await ask(query, { id: crate, first: 1000 }, ada.token))["roCrate"].files;
    expect(all.pageInfo.hasNextPage).toBe(false);
    expect(all.nodes.length).toBeGreaterThan(3);
    expect(all.totalCount).toBe(all.nodes.length);
    expect(all.nodes.map(({ path }: Json) => path)).toContain(PATHS.embeddings);
    const paged: Json[] = [];
    let after: string | null = null;
    do {
      const { nodes, pageInfo }: { nodes: Json[]; pageInfo: Json } = (
        await ask(query, { id: crate, first: 2, after }, ada.token)
      )["roCrate"].files;
      paged.push(...nodes);
      after = pageInfo["hasNextPage"] ? (pageInfo["endCursor"] as string) : null;
    } while (after !== null);
    expect(paged).toEqual(all.nodes);
    const largest = Math.max(...all.nodes.map(({ size }: Json) => size as number));
    const large = await ask(query, { id: crate, minSize: largest }, ada.token);
    expect(large["roCrate"].files.totalCount).toBe(1);
    expect(large["roCrate"].files.nodes.map(({ size }: Json) => size)).toEqual([largest]);
    for (const file of all.nodes as Json[]) {
      expect(file["readable"]).toBe(true);
      const answer = await fetch(file["address"] as string, {
        headers: { Authorization: `Bearer ${ada.token}` },
      });
      expect(answer.status, file["path"] as string).toBe(200);
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect(createHash("sha256").update(bytes).digest("hex")).toBe(file["sha256"]);
      expect(bytes.length).toBe(file["size"]);
    }
    const anonymous = (await ask(query, { id: crate, first: 1000 }))["roCrate"].files.nodes;
    expect(anonymous.some(({ readable }: Json) => readable)).toBe(false);
    const rest = await registry.ask(`/rocrate/files/${crate}?limit=1000`, { token: ada.token });
    expect(JSON.parse(rest.text)).toEqual(
      all.nodes.map((file: Json) => ({ ...file, record: file["record"]?.id ?? null })),
    );
  });

  it("refuses a size or a cursor that is none", async () => {
    for (const query of ["minSize=-1", "minSize=x", "minSize=1.5", "limit=0"])
      expect((await registry.ask(`/rocrate/files/${crate}?${query}`)).status).toBe(422);
    expect((await registry.ask(`/rocrate/files/${crate}?cursor=x`)).status).toBe(400);
    expect((await registry.ask(`/rocrate/files/${crate}?size=1`)).status).toBe(422);
    expect((await registry.ask("/rocrate/files/ark:99999/none")).status).toBe(404);
  });

  it("names addresses that answer", async () => {
    const { roCrate } = await ask(
      "query ($id: ID!) { roCrate(id: $id) { addresses { metadata current uploaded } } }",
      { id: crate },
    );
    expect(Object.values(roCrate.addresses)).toHaveLength(3);
    for (const address of Object.values(roCrate.addresses as Record<string, string>)) {
      const answer = await fetch(address, { headers: { Authorization: `Bearer ${ada.token}` } });
      await answer.arrayBuffer();
      expect(answer.status, address).toBe(200);
    }
  });

  it("has the score that is stored, null before, and its history", async () => {
    const query = `query ($id: ID!) { roCrate(id: $id) { revision
      score { revision totals { met partly total } } scoreHistory { revision met partly total } } }`;
    const { body: root } = await registry.ask(`/${crate}`);
    await replaced(crate, { ...root, version: "2.0" });
    expect((await ask(query, { id: crate }))["roCrate"].score).toBeNull();
    const first = (await registry.ask(`/rocrate/ai-ready-score/${crate}`)).body;
    await replaced(crate, { ...root, version: "3.0", license: null });
    await registry.ask(`/rocrate/ai-ready-score/${crate}`);
    const { roCrate } = await ask(query, { id: crate });
    expect(roCrate.score.revision).toBe(roCrate.revision);
    expect(roCrate.scoreHistory.slice(-2)).toEqual([
      { revision: first["revision"], ...(first["score"] as Json) },
      { revision: roCrate.revision, ...roCrate.score.totals },
    ]);
    const rest = JSON.parse(await text(`/rocrate/ai-ready-score/${crate}/history`)) as Json[];
    expect(rest.map(({ computedAt: _at, ...point }) => point)).toEqual(roCrate.scoreHistory);
    expect(roCrate.scoreHistory.at(-2).met).toBeGreaterThan(roCrate.scoreHistory.at(-1).met);
  });

  it("is refused as a whole where its metadata is larger than an answer may be", async () => {
    const small = await LiveRegistry.start({ GRAPHQL_MAX_BYTES: "64K" });
    try {
      const user = await small.user("Ada");
      const { rocrateIdentifier } = await small.take(await buildDemoCrate(), user.token);
      const answer = await small.graphql(
        "query ($id: ID!) { roCrate(id: $id) { a: metadata b: metadata c: metadata d: metadata } }",
        { id: rocrateIdentifier },
      );
      expect(codeOf(answer)).toBe("QUERY_TOO_COSTLY");
    } finally {
      await small.stop();
    }
  });
});

describe("content", () => {
  const upload = async (query: string, variables: Json, bytes: string, token?: string) => {
    const form = new FormData();
    form.set("operations", JSON.stringify({ query, variables: { ...variables, file: null } }));
    form.set("map", JSON.stringify({ 0: ["variables.file"] }));
    form.set("0", new Blob([bytes], { type: "text/csv" }), "data.csv");
    return registry.ask("/graphql", {
      method: "POST",
      body: form,
      headers: { "apollo-require-preflight": "true" },
      token,
    });
  };
  const mutation = `mutation ($id: ID!, $file: Upload!, $revision: Int) {
    uploadContent(input: { id: $id, file: $file, expectedRevision: $revision }) {
      revision dataDownload { id contentSize sha256 } } }`;

  it("is stored, replaced and deleted, by those who may change the record", async () => {
    const { body } = await registry.ask("/download", {
      token: ada.token,
      body: bodyOf("datadownload", ada.ark),
    });
    const id = body["@id"] as string;
    expect(codeOf(await upload(mutation, { id }, "a,b\n", bob.token))).toBe("FORBIDDEN");
    expect(codeOf(await upload(mutation, { id }, "a,b\n"))).toBe("NOT_AUTHENTICATED");
    const first = await upload(mutation, { id }, "a,b\n", ada.token);
    expect(first.body["data"].uploadContent).toMatchObject({
      revision: 2,
      dataDownload: { id, contentSize: "4" },
    });
    expect(codeOf(await upload(mutation, { id, revision: 1 }, "c", ada.token))).toBe(
      "REVISION_MISMATCH",
    );
    await upload(mutation, { id, revision: 2 }, "a,b\n1,2\n", ada.token);
    expect(await text(`/download/${id}`, ada.token)).toBe("a,b\n1,2\n");
    const removal = `mutation ($id: ID!, $revision: Int) {
      deleteContent(input: { id: $id, expectedRevision: $revision }) {
        revision dataDownload { contentUrl } } }`;
    expect(codeOf(await registry.graphql(removal, { id }, bob.token))).toBe("FORBIDDEN");
    expect(codeOf(await registry.graphql(removal, { id, revision: 2 }, ada.token))).toBe(
      "REVISION_MISMATCH",
    );
    const { deleteContent } = await ask(removal, { id }, ada.token);
    expect(deleteContent).toEqual({ revision: 4, dataDownload: { contentUrl: null } });
    expect((await registry.ask(`/download/${id}`, { token: ada.token })).status).toBe(410);
  });
});

describe("the report of the shapes, health, the own user and further lists", () => {
  it("are the same over both", async () => {
    const ark = await created("dataset");
    const { record, health } = await ask(
      `query ($id: ID!) { record(id: $id) { shapeReport { conforms checked results { message } } }
        health { ok ready lag checks { part state } } }`,
      { id: ark },
    );
    const report = (await registry.ask("/validate", { body: { "@id": ark } })).body;
    expect(record.shapeReport).toMatchObject({
      conforms: report["conforms"],
      checked: report["checked"],
    });
    expect(health).toMatchObject({ ok: true, ready: true });
    expect(health.checks).toContainEqual({ part: "records", state: "OK" });

    const own = await registry.ask("/me", { token: ada.token });
    expect(own.body).toEqual((await registry.ask(`/user/${ada.ark}`, { token: ada.token })).body);
    expect(own.headers.get("content-location")).toBe(`/user/${ada.ark}`);
    expect(own.headers.get("cache-control")).toContain("no-store");
    expect((await registry.ask("/me")).status).toBe(401);

    const count = async (path: string): Promise<number> =>
      Number((await registry.ask(`${path}?limit=1`)).headers.get("x-total-count"));
    const totals = await ask("{ dataDownloads { totalCount } entities { totalCount } }");
    expect(await count("/datadownload")).toBe(totals["dataDownloads"].totalCount);
    expect(await count("/entity")).toBe(totals["entities"].totalCount);
    expect(totals["dataDownloads"].totalCount).toBeGreaterThan(0);
  });
});

/**
 * GraphQL fields that do what a REST operation does. A string says why GraphQL needs none: the
 * operation is a protocol of its own, or a file.
 */
const COUNTERPARTS: Readonly<Record<string, readonly string[] | string>> = {
  root_page: "a page for browsers",
  page: "a page for browsers",
  docs_page: "a page for browsers",
  openapi_json: "the description of REST itself",
  openapi_yaml: "the description of REST itself",
  ontology: "a file of the ontology",
  sparql_get: "the SPARQL 1.1 Protocol",
  sparql_post: "the SPARQL 1.1 Protocol",
  oai_get: "the protocol OAI-PMH; records by filter are Query.records",
  oai_post: "the protocol OAI-PMH; records by filter are Query.records",
  sitemap: "a file for search engines",
  feed: "a file for feed readers",
  catalog: "a feed in DCAT; the same records are Query.records",
  void_description: "a file in VoID; the counts are Query.recordStatistics",
  api_catalog: "a list of interfaces, GraphQL among them",
  health: ["Query.health"],
  readiness: ["Health.ready"],
  token: ["Mutation.signIn"],
  login: ["Mutation.signIn"],
  begin_device_login: "for programs that have no token yet",
  device_token: "for programs that have no token yet",
  refresh_token: "renews a login of the command line",
  revoke_refresh_token: "ends a login of the command line",
  me: ["Query.me"],
  list_access_requests: ["Query.accessRequests"],
  request_access: ["Mutation.requestAccess"],
  decide_access_request: ["Mutation.decideAccessRequest"],
  list_access_tokens: ["Query.accessTokens"],
  create_access_token: ["Mutation.createAccessToken"],
  revoke_access_token: ["Mutation.revokeAccessToken"],
  change_password: ["Mutation.changePassword"],
  reset_password: ["Mutation.resetPassword"],
  admin_accounts: ["Query.accounts"],
  admin_set_account: ["Mutation.updateAccount"],
  admin_password_reset: ["Mutation.createPasswordReset"],
  admin_figures: ["Query.registryFigures"],
  admin_audit: ["Query.auditEntries"],
  publish_records: ["Mutation.publishRecords"],
  transfer_records: ["Mutation.transferRecords"],
  delete_records: ["Mutation.deleteRecords"],
  restore_revision: ["Mutation.restoreRevision"],
  start_session: "sets the cookie of a browser",
  read_session: "is about the cookie of a browser",
  end_session: "removes the cookie of a browser",
  get_project_of_organization: ["Organization.projects"],
  add_group_user: ["Mutation.addGroupMember"],
  remove_group_user: ["Mutation.removeGroupMember"],
  execute_computation: ["Mutation.executeComputation"],
  execution_status: ["Query.submission"],
  delete_rocrate: ["Mutation.deleteRecord"],
  get_rocrate: ["Query.roCrate", "ROCrate.metadata", "ROCrate.addresses"],
  summarize_crate: ["ROCrate.recordCounts", "ROCrate.files"],
  list_crate_files: ["ROCrate.files"],
  list_records: ["Query.records"],
  list_record_statistics: ["Query.recordStatistics"],
  upload_crate: ["Mutation.uploadCrate", "Subscription.submissionProgress"],
  upload_crate_async: ["Mutation.uploadCrate"],
  upload_status: ["Query.submission"],
  cancel_upload: ["Mutation.cancelSubmission"],
  retry_upload: ["Mutation.retrySubmission"],
  list_submissions: ["Query.submissions"],
  download_archive: ["CrateAddresses.uploaded"],
  download_crate: ["CrateAddresses.uploaded"],
  validate_crate: ["Mutation.planCrate"],
  create_crate_metadata: ["Mutation.uploadCrate"],
  ai_ready_score: ["Query.aiReadyScore"],
  score_history: ["ROCrate.scoreHistory"],
  rescore: ["Mutation.rescoreCrate"],
  rescore_status: ["Query.submission"],
  delete_datadownload: ["Mutation.deleteContent"],
  download_datadownload: ["DataDownload.contentUrl"],
  download_dataset: ["CrateFile.address"],
  download_software: ["CrateFile.address"],
  download_content: ["CrateFile.address"],
  view_content: ["CrateFile.address"],
  view_crate_page: ["CrateAddresses.page"],
  create_download: ["Mutation.createDataDownload"],
  register_download: ["Mutation.registerDownload"],
  upload_datadownload: ["Mutation.uploadContent"],
  publish: ["Mutation.publishRecord"],
  publication_status: ["Record.publicationStatus"],
  query_evidence: ["Query.evidence", "Query.origin", "Evidence.as"],
  evidence_impact: ["Query.impact"],
  evidence_path: ["Query.supportPath"],
  reserve_doi: ["Mutation.reserveDoi"],
  list_review_links: ["Query.reviewLinks"],
  create_review_link: ["Mutation.createReviewLink"],
  revoke_review_link: ["Mutation.revokeReviewLink"],
  record_lineage: ["Mutation.recordLineage"],
  build_evidence: ["Mutation.buildEvidenceGraph"],
  evidence_build_status: ["Query.submission"],
  validate: ["Query.validate", "Record.shapeReport"],
  validate_table: ["Mutation.validateTable"],
  resolve_ark: [
    "Query.record",
    "Query.entity",
    "Query.mlModel",
    "Query.sample",
    "Query.instrument",
    "Query.experiment",
    "Query.annotation",
    "Record.document",
    "Record.as",
    "Query.revision",
  ],
  update_ark: ["Mutation.replaceDataset"],
  patch_ark: ["Mutation.updateRecord"],
  delete_ark: ["Mutation.deleteRecord"],
  resolve_history: ["Query.revisions"],
  search_basic: ["Query.search"],
  search_semantic: ["Query.search"],
};
/** Operations of each kind, by the beginning of their name. */
const OF_KINDS: Readonly<Record<string, (typeName: string) => readonly string[]>> = {
  list: (typeName) => [`Query:${typeName}Connection`],
  get: (typeName) => [`Query:${typeName}`],
  create: (typeName) => [`Mutation.create${typeName}`],
  update: (typeName) => [`Mutation.replace${typeName}`],
  patch: (typeName) => [`Mutation.update${typeName}`],
  delete: () => ["Mutation.deleteRecord"],
  history: () => ["Query.revisions"],
};
/** Fields of the roots that REST serves in another way, or that only GraphQL can have. */
const ONLY_GRAPHQL: Readonly<Record<string, string>> = {
  "Query.node": "the name that Relay expects for record",
  "Query.nodes": "resolve_ark, once for each identifier",
  "Query.preview": "a part of view_content and download_content, made for pages",
  "Subscription.recordChanges": "list_records by modifiedSince",
};

describe("the capabilities of REST and GraphQL", async () => {
  const { KINDS } = await import("../../src/model/kinds.js");
  const schema: GraphQLSchema = buildSchema(
    readFileSync(join(packageRoot, "graphql/schema.graphql"), "utf8"),
  );
  /** `Type.field`, or `Type:Result` for any field with that result. */
  const fieldsOf = (place: string): string[] => {
    const [type, field] = place.split(/[.:]/) as [string, string];
    const found = schema.getType(type);
    const fields = found && "getFields" in found ? Object.values(found.getFields()) : [];
    return fields
      .filter((one) =>
        place.includes(".")
          ? one.name === field
          : String((one as { type: unknown }).type).replace(/!$/, "") === field,
      )
      .map(({ name }) => `${type}.${name}`);
  };
  const counterpart = (operationId: string): readonly string[] | string | undefined => {
    if (Object.hasOwn(COUNTERPARTS, operationId)) return COUNTERPARTS[operationId];
    const [verb, kind] = operationId.split("_") as [string, keyof typeof KINDS];
    return Object.hasOwn(KINDS, kind) ? OF_KINDS[verb]?.(KINDS[kind].typeName) : undefined;
  };
  const ids = SERVED.map(({ operationId }) => operationId);

  it.each(ids)("%s has a counterpart in GraphQL, or a reason why it needs none", (operationId) => {
    const found = counterpart(operationId);
    expect(found, "name the field in this test").toBeDefined();
    if (typeof found === "string") return;
    for (const place of found!) expect(fieldsOf(place), place).not.toEqual([]);
  });

  it("every field of the roots of GraphQL is reached from a REST operation", () => {
    const reached = new Set(
      ids.flatMap((id) => {
        const found = counterpart(id);
        return typeof found === "string" || !found ? [] : found.flatMap(fieldsOf);
      }),
    );
    const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
    const missing = roots.flatMap((root) =>
      Object.keys(root!.getFields())
        .map((name) => `${root!.name}.${name}`)
        .filter((place) => !reached.has(place) && !Object.hasOwn(ONLY_GRAPHQL, place)),
    );
    expect(missing).toEqual([]);
  });
});
