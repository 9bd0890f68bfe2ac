import { metadata, zip, LIMITS, readerOf, type Entity, type Members } from "../support/crates.js";
import { bodyOf } from "../support/bodies.js";
import { Browser } from "../support/browser.js";
import { startServer, type Person, type TestServer } from "../support/server.js";
import { Archive } from "../../src/services/crates/zip/archive.js";

export const ACTORS = ["admin", "owner", "member", "other", "anonymous"] as const;
/** Who has a link to the private crate; the second one without names of people. */
export const REVIEWERS = ["reviewer", "anonymousReviewer"] as const;
type Reviewer = (typeof REVIEWERS)[number];
export type Actor = (typeof ACTORS)[number] | Reviewer;

/** What some may read and others never see, in whatever answer. */
export interface Secret {
  text: string;
  readers: readonly Actor[];
}

/** A registry with a record in every state, and what of them is secret. */
export interface World {
  server: TestServer;
  people: Record<Exclude<Actor, "anonymous" | Reviewer>, Person>;
  token(actor: Actor): string | undefined;
  /** Headers by which the actor shows who they are: a token's, or those of a browser's session. */
  credentials(actor: Actor): Record<string, string>;
  /** Owned by `owner`, with `member` among its members. */
  group: string;
  /** Records by the state they are in. */
  targets: Record<string, string>;
  secrets: Record<string, Secret>;
  /** A record in a state of its own. */
  fresh(state: State): Promise<string>;
}

/** States that writes are tried on. */
export const STATES = [
  "draft",
  "published",
  "embargoed",
  "contentDeleted",
  "deleted",
  "crate",
  "crateMember",
  "computation",
  "group",
] as const;
export type State = (typeof STATES)[number];

const file = (id: string): Entity => ({ "@id": id, "@type": "File", name: id });

/** Names of people wherever a crate may state them. */
function peopleOfCrate(name: string, email: string, orcid: string, place: string) {
  const person = `https://orcid.org/${orcid}`;
  const named = { "@id": person };
  const local = { "@id": `#${name}` };
  return {
    root: {
      author: [named, local],
      creator: `${name}, A.`,
      contributor: [{ "@type": "Person", name, email }],
      maintainer: local,
      editor: name,
      publisher: { "@id": `https://${place}.example` },
      funder: { "@type": "Organization", name: place },
      contactPoint: { "@type": "ContactPoint", email, name },
      creditText: `${name}: A crate`,
      copyrightHolder: named,
      copyrightNotice: `© ${name}`,
      acknowledgement: `${name} thanks ${place}`,
      affiliation: place,
      mentions: [local, named],
      citation: `${name} (2026)`,
      associatedPublication: `${name} et al.`,
      principalInvestigator: name,
      contactEmail: email,
      description: `Ask ${email}, or ${person}, or ${orcid}. In all, a crate for tests.`,
    },
    entities: [
      { "@id": person, "@type": "Person", name, email, affiliation: { "@id": `#${place}` } },
      { "@id": `#${name}`, "@type": ["Person"], name, givenName: name },
      { "@id": `#${place}`, "@type": "Organization", name: place },
      {
        "@id": "#run",
        "@type": "CreateAction",
        name: "Run",
        description: "A run for tests",
        agent: named,
        author: name,
        "prov:wasAssociatedWith": local,
        instrument: { "@id": "#tool" },
      },
      {
        "@id": "#tool",
        "@type": "SoftwareApplication",
        name: `Tool, see ${email}`,
        author: local,
        version: "1",
      },
    ] satisfies Entity[],
  };
}

/** @param by how actors show who they are */
export async function makeWorld(by: "token" | "session"): Promise<World> {
  const server = await startServer();
  const admin = await server.person("root", { admin: true });
  const [owner, member, other] = [
    await server.person("ada"),
    await server.person("bob"),
    await server.person("eve"),
  ];
  const people = { admin, owner, member, other };
  const links = new Map<Actor, string>();
  const token = (actor: Actor) =>
    actor in people ? people[actor as keyof typeof people].token : links.get(actor);
  const browsers = new Map<Actor, Browser>();
  if (by === "session")
    for (const actor of ["admin", "owner", "member", "other"] as const)
      browsers.set(actor, await Browser.signIn(server.url, people[actor]));
  const credentials = (actor: Actor): Record<string, string> => {
    if (actor === "anonymous") return {};
    return browsers.get(actor)?.headers ?? { Authorization: `Bearer ${token(actor)}` };
  };
  const ok = async (
    work: Promise<{ status: number; text: string; body: unknown }>,
  ): Promise<Record<string, unknown>> => {
    const { status, text, body } = await work;
    if (status !== 200) throw new Error(`${status} ${text}`);
    return body as Record<string, unknown>;
  };
  const ask = (method: string, path: string, json?: unknown) =>
    ok(
      server.request(method, path, { token: owner.token, ...(json === undefined ? {} : { json }) }),
    );
  const group = (await ask("POST", "/group", bodyOf("group", owner.id, { members: [member.id] })))[
    "@id"
  ] as string;

  const publish = (ark: string, publicationStatus: string) =>
    ask("PUT", "/publish", { "@id": ark, publicationStatus });
  const register = async (bytes: string, status?: string) => {
    const form = new FormData();
    form.set(
      "download",
      JSON.stringify(bodyOf("datadownload", group, { sha256: null, contentSize: null })),
    );
    form.set("file", new Blob([bytes]), "bytes.txt");
    const ark = (await ok(server.request("POST", "/register", { token: owner.token, body: form })))[
      "@id"
    ] as string;
    if (status) await publish(ark, status);
    return ark;
  };
  let count = 0;
  const upload = async (
    files: Members,
    query = "",
    described: { root: Entity; entities: Entity[] } = { root: {}, entities: [] },
  ) => {
    const entities = Object.keys(files)
      .filter((name) => !described.entities.some((entity) => entity["@id"] === name))
      .map(file);
    const form = new FormData();
    const root = `ark:99999/world-crate-${++count}`;
    form.set(
      "file",
      new Blob(
        [
          new Uint8Array(
            await zip({
              "ro-crate-metadata.json": metadata([...entities, ...described.entities], {
                "@id": root,
                ...described.root,
              }),
              ...files,
            }),
          ),
        ],
        { type: "application/zip" },
      ),
      "crate.zip",
    );
    await ok(server.request("POST", `/rocrate/upload${query}`, { token: owner.token, body: form }));
    return root;
  };
  // Each member is a record of its own: a crate has one for many writes.
  const members: string[] = [];
  const memberOfCrate = async (): Promise<string> => {
    if (members.length === 0) {
      const files = Array.from({ length: 12 }, (_, index) => `${index}.txt`);
      const root = await upload(Object.fromEntries(files.map((name) => [name, name])));
      members.push(...files.map((name) => `${root}/${name}`));
    }
    return members.pop()!;
  };
  const fresh = async (state: State): Promise<string> => {
    switch (state) {
      case "draft":
        return register("fresh draft");
      case "published":
        return register("fresh published", "PUBLISHED");
      case "embargoed":
        return register("fresh embargoed", "EMBARGOED");
      case "contentDeleted": {
        const ark = await register("fresh content", "PUBLISHED");
        await ask("DELETE", `/datadownload/${ark}`);
        return ark;
      }
      case "deleted": {
        const ark = (await ask("POST", "/dataset", bodyOf("dataset", group)))["@id"] as string;
        await ask("DELETE", `/dataset/${ark}`);
        return ark;
      }
      case "crate":
        return upload({ "a.txt": "a" });
      case "crateMember":
        return memberOfCrate();
      case "computation":
        return (await ask("POST", "/computation", bodyOf("computation", group)))["@id"] as string;
      case "group":
        return (await ask("POST", "/group", bodyOf("group", owner.id, { members: [member.id] })))[
          "@id"
        ] as string;
    }
  };

  const secret = (text: string, readers: readonly Actor[]): Secret => ({ text, readers });
  const named: readonly Actor[] = ["admin", "owner", "reviewer"];
  const secrets: World["secrets"] = {
    email: secret(owner.email, ["admin", "owner"]),
    password: secret(owner.password, []),
    embargoed: secret("bytes-of-embargoed-42", ["admin", "owner", "member"]),
    deletedName: secret("Name-of-deleted-45", ["admin", "owner", "member"]),
    privateMember: secret("zirconiummember-56", ["admin", "owner", ...REVIEWERS]),
    privateMemberBytes: secret("bytes-of-private-member-57", ["admin", "owner", ...REVIEWERS]),
    // Who made the private crate.
    authorName: secret("Quillfeather", named),
    authorEmail: secret("q.feather@planted.example", named),
    authorOrcid: secret("0000-0002-1825-0097", named),
    authorPlace: secret("Brontewood", named),
  };
  const s = (name: string) => secrets[name]!.text;
  const dataset = (await ask("POST", "/dataset", bodyOf("dataset", group)))["@id"] as string;
  const deleted = (
    await ask("POST", "/dataset", bodyOf("dataset", group, { name: s("deletedName") }))
  )["@id"] as string;
  await ask("DELETE", `/dataset/${deleted}`);
  const { root, entities } = peopleOfCrate(
    s("authorName"),
    s("authorEmail"),
    s("authorOrcid"),
    s("authorPlace"),
  );
  const hiddenCrate = await upload(
    {
      "member.txt": s("privateMemberBytes"),
      "report/notes.txt": "notes",
      // What a tool wrote names the authors, in a folder too.
      "report/ro-crate-preview.html": `<p>By ${s("authorName")}</p>`,
    },
    "?visibility=private",
    // The secret is no part of the identifier, which an answer may repeat to who asks for it.
    { root, entities: [...entities, { ...file("member.txt"), name: s("privateMember") }] },
  );
  for (const [actor, anonymous] of [
    ["reviewer", false],
    ["anonymousReviewer", true],
  ] as const) {
    const made = await ask("POST", `/review-links/${hiddenCrate}`, { anonymous });
    links.set(actor, new URL(made["address"] as string).pathname.replace("/review/", ""));
  }
  const targets = {
    deleted,
    dataset,
    embargoed: await register(s("embargoed"), "EMBARGOED"),
    privateCrate: hiddenCrate,
    privateMember: `${hiddenCrate}/member.txt`,
    nothing: "ark:99999/nothing-here",
  };
  return { server, people, token, credentials, group, targets, secrets, fresh };
}

/** All text of an answer; of an archive that of its members. */
export async function textOf(bytes: Buffer): Promise<string> {
  if (bytes.subarray(0, 2).toString("latin1") !== "PK") return bytes.toString("latin1");
  const archive = await Archive.open(readerOf(bytes), LIMITS);
  const parts: string[] = [];
  for (const member of archive.members)
    for await (const chunk of archive.read(member))
      parts.push(Buffer.from(chunk).toString("latin1"));
  return parts.join("\n");
}
