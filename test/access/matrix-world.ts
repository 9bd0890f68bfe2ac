/** A registry with a file and a crate in each state, and words planted in all that they hold. */
import { randomUUID } from "node:crypto";
import { bodyOf } from "../support/bodies.js";
import { Browser } from "../support/browser.js";
import { metadata, zip } from "../support/crates.js";
import { type Person, startServer, type TestServer } from "../support/server.js";
import { type Caller, type State } from "./who-sees.js";
import { AS_CREATED } from "../../src/services/records/pages.js";

/** Where a word is planted: in metadata that is searched, or not, in bytes, in names of people. */
export type Part = "name" | "text" | "keyword" | "more" | "bytes" | "maker";
/** A word that nothing else has; the number says of which target it is. */
const planted = (part: Part, target: number): string => `Qz${part}${target}q`;
const PLANTED = /qz(name|text|keyword|more|bytes|maker)(\d+)q/gi;
/** The words in an answer. */
export const plantedIn = (text: string): { part: Part; target: number; at: number }[] =>
  [...text.matchAll(PLANTED)].map((found) => ({
    part: found[1]!.toLowerCase() as Part,
    target: Number(found[2]),
    at: found.index,
  }));
/** What a search for all of them asks. */
export const COMMON = "zirconium";
/** The people and groups that own the records: no record of a state. */
const OWNERS = 0;

export interface Target {
  /** Of its planted words. */
  number: number;
  state: State;
  what: "file" | "crate" | "member" | "loose";
  ark: string;
  /** The record of its review links. */
  linked: string;
}

const isWithdrawn = (state: State): boolean =>
  state === "withdrawn" || state === "privateWithdrawn";

type Account = Exclude<Caller, "reviewer" | "anonymousReviewer" | "anonymous">;

export interface MatrixWorld {
  server: TestServer;
  group: string;
  /** A dataset that everybody sees. */
  open: string;
  targets: readonly Target[];
  /** Records of no state: an account, a group, evidence that was stored before a deletion. */
  others: readonly string[];
  /** An upload of the owner. */
  submission: string;
  /** Secrets of accounts, and who may read them. */
  secrets: readonly { text: string; readers: readonly Caller[] }[];
  /** @param target whose review link a reviewer has */
  credentials(caller: Caller, target: Target): Record<string, string>;
}

/** @param by how those with an account show who they are */
export async function makeMatrixWorld(
  states: readonly State[],
  by: "token" | "session",
): Promise<MatrixWorld> {
  const server = await startServer({
    // Selections of all fields.
    GRAPHQL_MAX_TOKENS: "1000000",
    GRAPHQL_MAX_DOCUMENT_BYTES: "8M",
    GRAPHQL_MAX_COST: "10000000",
    GRAPHQL_MAX_BYTES: "256M",
    GRAPHQL_ANONYMOUS_TIME: "10m",
    WRITE_RATE: "off",
  });
  const people: Record<Account, Person> = {
    admin: await server.person("root", { admin: true }),
    owner: await server.person(planted("maker", OWNERS)),
    member: await server.person("bob"),
    granted: await server.person("gus"),
    other: await server.person("eve"),
  };
  const browsers = new Map<Caller, Browser>();
  if (by === "session")
    for (const [caller, person] of Object.entries(people) as [Account, Person][])
      browsers.set(caller, await Browser.signIn(server.url, person));

  const ask = async (
    method: string,
    path: string,
    {
      json,
      body,
      person = people.owner,
    }: { json?: unknown; body?: FormData; person?: Person } = {},
  ): Promise<Record<string, unknown>> => {
    const answer = await server.request(method, path, {
      token: person.token,
      ...(json === undefined ? {} : { json }),
      ...(body === undefined ? {} : { body }),
    });
    if (answer.status !== 200)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const group = (
    await ask("POST", "/group", {
      json: bodyOf("group", people.owner.id, {
        name: `Group of ${planted("maker", OWNERS)}`,
        members: [people.member.id],
      }),
    })
  )["@id"] as string;

  const dataset = await ask("POST", "/dataset", { json: bodyOf("dataset", group) });
  const open = dataset["@id"] as string;

  const links = new Map<string, string>();
  const link = async (ark: string, anonymous: boolean) => {
    const made = await ask("POST", `/review-links/${ark}`, { json: { anonymous } });
    const secret = new URL(made["address"] as string).pathname.replace("/review/", "");
    links.set(`${ark} ${anonymous}`, secret);
  };
  const grant = async (record: string) => {
    const id = randomUUID();
    const [requester, askedAt] = [people.granted.id, Date.now()];
    const { records } = server.deps;
    await records.askForAccess(
      { id, record, requester, reason: "To read it.", askedAt },
      { most: 1000, decidedBefore: 0 },
    );
    await records.decideAccess({
      id,
      state: "granted",
      until: null,
      message: null,
      decidedAt: askedAt,
      decidedBy: people.owner.id,
    });
  };
  const publish = (ark: string, publicationStatus: string) =>
    ask("PUT", "/publish", { json: { "@id": ark, publicationStatus } });

  /** From a draft, private but for one, to the state; links and grants are of the draft. */
  const bringTo = async (state: State, ark: string): Promise<void> => {
    await link(ark, false);
    if (state !== "openDraft") await link(ark, true);
    await grant(ark);
    if (["published", "archived", "withdrawn", "contentDeleted"].includes(state))
      await publish(ark, "PUBLISHED");
    if (state === "embargoed") await publish(ark, "EMBARGOED");
    if (["archived", "privateArchived"].includes(state)) await publish(ark, "ARCHIVED");
    if (!isWithdrawn(state)) return;
    await storeEvidence(ark);
    await ask("DELETE", `/${ark}`);
    // They end with the record.
    for (const anonymous of [true, false]) links.delete(`${ark} ${anonymous}`);
  };
  const queryOf = (state: State) => (state === "openDraft" ? "" : "?visibility=private");

  const targets: Target[] = [];
  const others: string[] = [people.owner.id, group];
  /** Stores the evidence of an open record that names this one. */
  const storeEvidence = async (ark: string): Promise<void> => {
    const json = bodyOf("dataset", group, { derivedFrom: [ark] });
    const dataset = (await ask("POST", "/dataset", { json }))["@id"] as string;
    const build = await ask("POST", `/evidencegraph/build/${dataset}`);
    let graph: Record<string, unknown> = {};
    while (graph["completed"] !== true)
      graph = await ask("GET", `/evidencegraph/build/status/${build["submissionUUID"] as string}`);
    others.push(dataset, graph["evidenceGraphIdentifier"] as string);
  };
  let number = OWNERS;
  const wordsOf = (target: number, earlier: string | undefined) => ({
    name: `${COMMON} ${planted("name", target)}`,
    description: `${COMMON} ${planted("text", target)}, described`,
    keywords: [COMMON, planted("keyword", target)],
    [`note`]: planted("more", target),
    ...(earlier === undefined ? {} : { isVersionOf: earlier }),
  });
  const file = async (state: State, earlier?: string): Promise<void> => {
    const own = ++number;
    const common = {
      "@id": `ark:99999/matrix-${state}-file`.toLowerCase(),
      author: planted("maker", own),
      collector: planted("maker", own),
      ...wordsOf(own, earlier),
    };
    const ark = common["@id"];
    if (isWithdrawn(state)) {
      // Of a file with bytes only these are deleted.
      await ask("POST", `/dataset${queryOf(state)}`, { json: bodyOf("dataset", group, common) });
    } else {
      const form = new FormData();
      const body = bodyOf("datadownload", group, { ...common, sha256: null, contentSize: null });
      form.set("download", JSON.stringify(body));
      const bytes = new Blob([`${planted("bytes", own)}\n`], { type: "text/plain" });
      form.set("file", bytes, "bytes.txt");
      await ask("POST", `/register${queryOf(state)}`, { body: form });
    }
    await bringTo(state, ark);
    if (state === "contentDeleted") await ask("DELETE", `/datadownload/${ark}`);
    targets.push({ number: own, state, what: "file", ark, linked: ark });
  };
  let submission = "";
  const crate = async (state: State, earlier?: string): Promise<void> => {
    const [whole, member, loose] = [++number, ++number, ++number];
    const root = `ark:99999/matrix-${state}-crate`.toLowerCase();
    const maker = planted("maker", whole);
    const described = metadata(
      [
        {
          "@id": "member.csv",
          "@type": "File",
          encodingFormat: "text/csv",
          author: planted("maker", member),
          ...wordsOf(member, undefined),
        },
        { "@id": "#author", "@type": "Person", name: maker, email: `${maker}@planted.example` },
        {
          "@id": "#run",
          "@type": "CreateAction",
          name: "A run",
          agent: { "@id": "#author" },
          result: { "@id": "member.csv" },
        },
      ],
      {
        "@id": root,
        ...wordsOf(whole, earlier),
        author: { "@id": "#author" },
        publisher: maker,
        // Formats cite these as authors, or show them, where `author` is hidden.
        collector: maker,
        compiler: [maker],
        rightsHolder: maker,
        dataGovernanceCommittee: maker,
        ethicalReview: maker,
        subjectOf: maker,
        hasPart: [{ "@id": "member.csv" }],
      },
    );
    const archive = await zip({
      "ro-crate-metadata.json": described,
      "member.csv": `a,b\n1,${planted("bytes", member)}\n`,
      "loose.txt": `${planted("bytes", loose)}\n`,
    });
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(archive)], { type: "application/zip" }), "crate.zip");
    const made = await ask("POST", `/rocrate/upload${queryOf(state)}`, { body: form });
    submission = (made["submission"] as { submissionUUID: string }).submissionUUID;
    // A crate belongs to who uploads it.
    const { items } = await server.deps.records.select({
      filter: { crates: [root] },
      order: AS_CREATED,
      limit: 100,
    });
    const members = items.map(({ ark }) => ark);
    await ask("POST", "/records/transfer", {
      json: { ids: [...new Set([root, ...members])], owner: group },
    });
    await bringTo(state, root);
    // Those who archive a crate leave its members as they are.
    if (state === "archived") await publish(`${root}/member.csv`, "ARCHIVED");
    if (state === "contentDeleted") {
      // Its archive goes with the content of one member.
      await ask("DELETE", `/datadownload/${root}/member.csv`);
      targets.push({
        number: member,
        state,
        what: "member",
        ark: `${root}/member.csv`,
        linked: root,
      });
      others.push(root, `${root}/loose.txt`);
      return;
    }
    targets.push(
      { number: whole, state, what: "crate", ark: root, linked: root },
      { number: member, state, what: "member", ark: `${root}/member.csv`, linked: root },
      { number: loose, state, what: "loose", ark: `${root}/loose.txt`, linked: root },
    );
  };
  for (const state of states) {
    const earlier = (what: Target["what"]) =>
      state === "newVersion"
        ? targets.find((target) => target.state === "published" && target.what === what)?.ark
        : undefined;
    await file(state, earlier("file"));
    await crate(state, earlier("crate"));
  }
  const { owner } = people;
  return {
    server,
    group,
    open,
    targets,
    others,
    submission,
    secrets: [
      { text: owner.email, readers: ["owner", "admin"] },
      { text: owner.password, readers: [] },
    ],
    credentials(caller, target) {
      if (caller === "anonymous") return {};
      const browser = browsers.get(caller);
      if (browser) return browser.headers;
      if (caller in people) return { Authorization: `Bearer ${people[caller as Account].token}` };
      const isAnonymous = caller === "anonymousReviewer";
      // Without one for the record, that of another one.
      const [another] = [...links].flatMap(([name, link]) =>
        name.endsWith(` ${isAnonymous}`) ? [link] : [],
      );
      const secret = links.get(`${target.linked} ${isAnonymous}`) ?? another;
      return secret === undefined ? {} : { Authorization: `Bearer ${secret}` };
    },
  };
}
