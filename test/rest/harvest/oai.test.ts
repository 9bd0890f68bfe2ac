import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildDemoCrate } from "../../../cli/demo/crate.js";
import { OAI_FORMATS } from "../../../src/services/harvest/oai.js";
import { bodyOf } from "../../support/bodies.js";
import { LiveRegistry } from "../../support/live-registry.js";
import type { Json, User } from "../../support/registry-client.js";

type Arguments = Record<string, string> | [string, string][];

let registry: LiveRegistry;
let ada: User;
beforeAll(async () => {
  registry = await LiveRegistry.start({
    OAI_PAGE_SIZE: "3",
    REGISTRY_NAME: "Cells & <friends>",
    CONTACT_EMAIL: "data@example.org",
  });
  ada = await registry.user("Ada");
});
afterAll(() => registry?.stop());

const oai = async (args: Arguments): Promise<string> => {
  const { status, headers, text } = await registry.ask(`/oai?${new URLSearchParams(args)}`);
  expect([status, headers.get("content-type")], text).toEqual([200, "text/xml; charset=utf-8"]);
  return text;
};
const all = (text: string, tag: string): string[] =>
  [...text.matchAll(new RegExp(`<${tag}(?: [^>]*)?>(.*?)</${tag}>`, "gs"))].map(
    ([, inner]) => inner!,
  );
const one = (text: string, tag: string): string | undefined => all(text, tag)[0];
const errorOf = (text: string): string | undefined => /<error code="(\w+)">/.exec(text)?.[1];
const token = (text: string): string => one(text, "resumptionToken") ?? "";

/** Every header of a list, page by page. */
async function harvest(args: Record<string, string>, verb = "ListIdentifiers"): Promise<string[]> {
  const headers: string[] = [];
  let text = await oai({ verb, metadataPrefix: "oai_dc", ...args });
  for (;;) {
    headers.push(...[...text.matchAll(/<header.*?<\/header>/gs)].map(([header]) => header));
    const next = token(text);
    if (next === "") return headers;
    text = await oai({ verb, resumptionToken: next });
  }
}
const idsOf = (headers: readonly string[]): string[] =>
  headers.map(
    (header) => (header.includes('status="deleted"') ? "-" : "") + one(header, "identifier"),
  );

const create = async (
  kind: "dataset" | "project" | "computation",
  more: Json = {},
): Promise<string> => {
  const { status, body, text } = await registry.ask(`/${kind}`, {
    token: ada.token,
    body: bodyOf(kind, ada.ark, more),
  });
  expect(status, text).toBe(200);
  return body["@id"] as string;
};
const publish = (id: string, publicationStatus: string, more: Json = {}): Promise<void> =>
  registry.publish(id, ada.token, publicationStatus, more);
const remove = (id: string) => registry.ask(`/${id}`, { method: "DELETE", token: ada.token });
const published = async (kind: "dataset" | "project" | "computation", more: Json = {}) => {
  const ark = await create(kind, more);
  await publish(ark, "PUBLISHED");
  return ark;
};

describe("an empty repository", () => {
  it("describes itself, and has neither sets nor records", async () => {
    const empty = await LiveRegistry.start();
    try {
      const ask = async (path: string) => (await empty.ask(path)).text;
      const identify = await ask("/oai?verb=Identify");
      expect(identify).toContain("<repositoryName>Arkgraph</repositoryName>");
      expect(identify).toContain("<adminEmail>contact-not-set@registry.invalid</adminEmail>");
      expect(identify).toContain("<earliestDatestamp>1970-01-01T00:00:00Z</earliestDatestamp>");
      expect(errorOf(await ask("/oai?verb=ListSets"))).toBe("noSetHierarchy");
      expect(errorOf(await ask("/oai?verb=ListRecords&metadataPrefix=oai_dc"))).toBe(
        "noRecordsMatch",
      );
    } finally {
      await empty.stop();
    }
  });
});

describe("the verbs", () => {
  let draft: string, open: string, embargoed: string, archived: string, withdrawn: string;
  let gone: string, goneDraft: string, goneWithdrawn: string;
  beforeAll(async () => {
    [draft, open, embargoed, archived, withdrawn, gone, goneDraft, goneWithdrawn] = [
      await create("dataset"),
      await published("dataset", { name: "a & b <c>\u0001\u000B\uFFFE \uD83D\uDE00" }),
      await create("dataset"),
      await create("dataset"),
      await published("dataset"),
      await published("dataset"),
      await create("dataset"),
      await published("dataset"),
    ];
    await publish(embargoed, "EMBARGOED", { embargoedUntil: "2999-01-01" });
    await publish(archived, "ARCHIVED");
    await publish(withdrawn, "DRAFT");
    await remove(gone);
    await remove(goneDraft);
    await publish(goneWithdrawn, "DRAFT");
    await remove(goneWithdrawn);
  });

  it("Identify describes the registry", async () => {
    const text = await oai({ verb: "Identify" });
    expect(text).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<OAI-PMH xmlns="http:\/\/www.openarchives.org\/OAI\/2.0\/"/,
    );
    expect(one(text, "request")).toBe(`${registry.url}/oai`);
    expect(text).toContain('<request verb="Identify">');
    expect(one(text, "repositoryName")).toBe("Cells &amp; &lt;friends&gt;");
    expect(one(text, "baseURL")).toBe(`${registry.url}/oai`);
    expect(one(text, "protocolVersion")).toBe("2.0");
    expect(one(text, "adminEmail")).toBe("data@example.org");
    expect(one(text, "deletedRecord")).toBe("persistent");
    expect(one(text, "granularity")).toBe("YYYY-MM-DDThh:mm:ssZ");
    const earliest = Date.parse(one(text, "earliestDatestamp")!);
    expect(earliest).toBeGreaterThan(Date.now() - 3_600_000);
    expect(Math.abs(Date.parse(one(text, "responseDate")!) - Date.now())).toBeLessThan(60_000);
  });

  it("ListMetadataFormats names the formats, of the repository and of a record", async () => {
    const prefixes = ["oai_dc", "oai_datacite"];
    expect(all(await oai({ verb: "ListMetadataFormats" }), "metadataPrefix")).toEqual(prefixes);
    for (const identifier of [open, gone])
      expect(all(await oai({ verb: "ListMetadataFormats", identifier }), "metadataPrefix")).toEqual(
        prefixes,
      );
    for (const identifier of [draft, goneDraft, ada.ark, "ark:99999/none", "no ark", "\0"])
      expect(errorOf(await oai({ verb: "ListMetadataFormats", identifier }))).toBe(
        "idDoesNotExist",
      );
  });

  it("GetRecord returns open, embargoed and archived records, and what is left of deleted ones", async () => {
    const get = (identifier: string, metadataPrefix = "oai_dc") =>
      oai({ verb: "GetRecord", identifier, metadataPrefix });
    for (const id of [open, embargoed, archived])
      for (const { prefix } of OAI_FORMATS) {
        const text = await get(id, prefix);
        expect(errorOf(text), text).toBeUndefined();
        expect(one(text, "identifier")).toBe(id);
        expect(one(text, "metadata")).toMatch(/^<(?:oai_dc:dc|oai_datacite) /);
      }
    for (const id of [withdrawn, gone, goneWithdrawn]) {
      const text = await get(id);
      expect(text).toContain('<header status="deleted">');
      expect(text).not.toContain("<metadata>");
    }
    for (const id of [draft, goneDraft, ada.ark])
      expect(errorOf(await get(id))).toBe("idDoesNotExist");
    expect(errorOf(await get(open, "marc21"))).toBe("cannotDisseminateFormat");
    // Any spelling of an ARK names the record.
    expect(one(await get(open.replace("ark:", "ark:/")), "identifier")).toBe(open);
  });

  it("escapes text, and leaves out what XML forbids", async () => {
    const text = await oai({ verb: "GetRecord", identifier: open, metadataPrefix: "oai_dc" });
    expect(text).toContain("a &amp; b &lt;c&gt; \u{1F600}");
    // eslint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/);
  });

  it("lists have every record once: drafts in none, withdrawals and deletions as deleted", async () => {
    const expected = [
      open,
      embargoed,
      archived,
      ...[withdrawn, gone, goneWithdrawn].map((id) => `-${id}`),
    ].toSorted();
    for (const verb of ["ListIdentifiers", "ListRecords"]) {
      const headers = await harvest({ set: "kind.dataset" }, verb);
      expect(idsOf(headers).toSorted()).toEqual(expected);
    }
    const stamps = (await harvest({})).map((header) => one(header, "datestamp")!);
    expect(stamps).toEqual(stamps.toSorted());
    expect(stamps.every((stamp) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(stamp))).toBe(true);
  });

  it("are answered to POST as well, with arguments in the form", async () => {
    const answer = await registry.ask("/oai", {
      body: new URLSearchParams({ verb: "GetRecord", identifier: open, metadataPrefix: "oai_dc" }),
    });
    expect([answer.status, errorOf(answer.text)]).toEqual([200, undefined]);
    expect(one(answer.text, "identifier")).toBe(open);
    const long = await registry.ask("/oai", {
      body: new URLSearchParams({ verb: "Identify", set: "x".repeat(100_000) }),
    });
    expect(long.status).toBe(413);
    const none = await registry.ask("/oai", { method: "POST" });
    expect(errorOf(none.text)).toBe("badVerb");
  });
});

describe("selective harvesting", () => {
  it("is by datestamps, both ends included, in days or seconds", async () => {
    const first = await published("dataset");
    const stampOf = async (identifier: string) =>
      one(await oai({ verb: "GetRecord", identifier, metadataPrefix: "oai_dc" }), "datestamp")!;
    const at = await stampOf(first);
    await pause(1100);
    const second = await published("dataset");
    const later = await stampOf(second);
    const found = async (args: Record<string, string>) =>
      idsOf(await harvest({ set: "kind.dataset", ...args }));
    expect(await found({ from: at })).toEqual(expect.arrayContaining([first, second]));
    expect(await found({ from: later })).toEqual([second]);
    expect(await found({ from: at, until: at })).toContain(first);
    expect(await found({ from: at, until: at })).not.toContain(second);
    const today = at.slice(0, 10);
    expect(await found({ from: today, until: later.slice(0, 10) })).toContain(second);
    const after = { verb: "ListIdentifiers", metadataPrefix: "oai_dc", from: "2999-01-01" };
    expect(errorOf(await oai(after))).toBe("noRecordsMatch");
    const before = { ...after, from: "1999-01-01", until: "1999-12-31" };
    expect(errorOf(await oai(before))).toBe("noRecordsMatch");
    // A deletion has the time of the deletion.
    await pause(1100);
    await remove(first);
    expect(await found({ from: await stampOf(first) })).toEqual([`-${first}`]);
  });

  it("is by kind, owner, crate and project; headers and ListSets name the sets", async () => {
    const project = await published("project", { name: "Project of <cells>" });
    const other = await create("project", { name: "A project that is a draft" });
    const member = await published("computation", { sourceProject: project });
    const gone = await published("computation", { sourceProject: project });
    await published("computation", { sourceProject: other });
    await remove(gone);
    const spec = (type: string, ark: string): string =>
      `${type}.${ark.slice("ark:".length).replace("/", ".")}`;
    expect(idsOf(await harvest({ set: spec("project", project) })).toSorted()).toEqual(
      [`-${gone}`, member].toSorted(),
    );
    const crate = (await registry.take(await buildDemoCrate(), ada.token))[
      "rocrateIdentifier"
    ] as string;
    const { body } = await registry.ask(`/records?crate=${crate}&limit=1000`);
    const members = (body as unknown as Json[]).map((record) => record["@id"] as string);
    expect(members.length).toBeGreaterThan(10);
    expect(
      errorOf(
        await oai({ verb: "ListRecords", metadataPrefix: "oai_dc", set: spec("crate", crate) }),
      ),
    ).toBe("noRecordsMatch");
    await publish(crate, "PUBLISHED");
    for (const ark of members) if (ark !== crate) await publish(ark, "PUBLISHED");
    const inCrate = await harvest({ set: spec("crate", crate) }, "ListRecords");
    expect(idsOf(inCrate).toSorted()).toEqual(members.filter((ark) => ark !== crate).toSorted());
    for (const header of inCrate)
      expect(all(header, "setSpec")).toEqual(
        expect.arrayContaining([spec("crate", crate), spec("owner", ada.ark)]),
      );
    const sets: string[] = [];
    for (let text = await oai({ verb: "ListSets" }); ;) {
      sets.push(...all(text, "setSpec"));
      const resumptionToken = token(text);
      if (text.includes("Project of")) expect(text).toContain("Project of &lt;cells&gt;");
      if (resumptionToken === "") break;
      text = await oai({ verb: "ListSets", resumptionToken });
    }
    expect(sets).toEqual(
      expect.arrayContaining([
        "kind.dataset",
        "kind.computation",
        "kind.rocrate",
        spec("owner", ada.ark),
        spec("crate", crate),
        spec("project", project),
      ]),
    );
    expect(sets).not.toContain("kind.user");
    expect(sets).not.toContain(spec("project", other));
    expect(new Set(sets).size).toBe(sets.length);
    // Each set that is named can be harvested, and holds what it says.
    for (const set of sets) {
      const args = { verb: "ListIdentifiers", metadataPrefix: "oai_dc", set };
      const text = await oai(args);
      if (!/^project|^crate/.test(set)) expect(errorOf(text), set).toBeUndefined();
      if (errorOf(text) === undefined) expect(all(text, "header")[0], set).toContain(set);
    }
  });

  it("writes identifiers of any characters into set names, and reads them again", async () => {
    const ark = "ark:99999/project-ä/(1)+b.c~d!e_%C3%A4";
    const { status } = await registry.ask("/project", {
      token: ada.token,
      body: { ...bodyOf("project", ada.ark), "@id": ark },
    });
    expect(status).toBe(200);
    await publish(ark, "PUBLISHED");
    const member = await published("computation", { sourceProject: ark });
    const header = (await harvest({ set: "kind.computation" })).find((one_) =>
      one_.includes(member),
    )!;
    const set = all(header, "setSpec").find((spec) => spec.startsWith("project."))!;
    expect(set).toMatch(/^[A-Za-z0-9\-_.!~*'()]+$/);
    expect(idsOf(await harvest({ set }))).toEqual([member]);
    const identifier = one(
      (await harvest({ set: "kind.project" })).find((text) => text.includes("project-%C3%A4"))!,
      "identifier",
    )!;
    expect(identifier).toMatch(/^[\x21-\x7e]+$/);
    expect(
      errorOf(await oai({ verb: "GetRecord", identifier, metadataPrefix: "oai_dc" })),
    ).toBeUndefined();
  });
});

describe("resumption tokens", () => {
  it("survive a restart, and lose nothing while records are written", async () => {
    const folder = await mkdtemp(join(tmpdir(), "arkgraph-oai-"));
    const env = { OAI_PAGE_SIZE: "4", DATA_DIR: folder };
    let node = await LiveRegistry.start(env);
    try {
      const user = await node.user("Bob");
      const make = async (count: number): Promise<string[]> => {
        const arks = Array.from({ length: count }, () => "");
        for (const index of arks.keys()) {
          const { body } = await node.ask("/dataset", {
            token: user.token,
            body: bodyOf("dataset", user.ark),
          });
          arks[index] = body["@id"] as string;
          await node.publish(arks[index], user.token);
        }
        return arks;
      };
      const arks = await make(20);
      const seen = new Map<string, string>();
      let text = (await node.ask("/oai?verb=ListRecords&metadataPrefix=oai_dc")).text;
      let pages = 0;
      for (;;) {
        for (const header of all(text, "record")) {
          const [id] = idsOf([/<header.*<\/header>/s.exec(header)![0]]);
          seen.set(id!.replace(/^-/, ""), id!);
        }
        const next = token(text);
        if (next === "") break;
        expect(++pages).toBeLessThan(50);
        if (pages === 2) {
          await node.running.stop();
          node = await LiveRegistry.start(env);
        }
        // One that was read changes, one that was not read is deleted, a new one appears.
        if (pages === 3) {
          const { body } = await node.ask(`/${arks[0]}`);
          await node.ask(`/${arks[0]}`, {
            method: "PUT",
            token: user.token,
            body: { ...body, name: "changed" },
          });
          await node.ask(`/${arks[19]}`, { method: "DELETE", token: user.token });
          arks.push(...(await make(1)));
        }
        text = (
          await node.ask(
            `/oai?${new URLSearchParams({ verb: "ListRecords", resumptionToken: next })}`,
          )
        ).text;
        expect(errorOf(text), text).toBeUndefined();
        expect(text).toContain(`<resumptionToken cursor="${pages * 4}"`);
      }
      expect([...seen.keys()].toSorted()).toEqual(arks.toSorted());
      expect(seen.get(arks[19]!)).toBe(`-${arks[19]}`);
      expect(pages).toBeGreaterThan(4);
    } finally {
      await node.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("lead to no empty list when what was left has changed meanwhile", async () => {
    await pause(1100);
    const arks: string[] = [];
    for (let index = 0; index < 4; index++) arks.push(await published("dataset"));
    const stamps: string[] = [];
    for (const identifier of arks) {
      const text = await oai({ verb: "GetRecord", identifier, metadataPrefix: "oai_dc" });
      stamps.push(one(text, "datestamp")!);
    }
    const times = { from: stamps[0]!, until: stamps[3]! };
    const list = { metadataPrefix: "oai_dc", ...times };
    const tokens = new Map<string, string>();
    for (const verb of ["ListIdentifiers", "ListRecords"])
      tokens.set(verb, token(await oai({ verb, ...list })));
    await pause(1100);
    const { body } = await registry.ask(`/${arks[3]!}`);
    const changed = { ...body, name: "changed later" };
    await registry.ask(`/${arks[3]!}`, { method: "PUT", token: ada.token, body: changed });
    for (const [verb, resumptionToken] of tokens) {
      const text = await oai({ verb, resumptionToken });
      expect(all(text, "identifier"), text).toEqual([arks[2]]);
      expect(text).toContain('<resumptionToken cursor="2"/>');
    }
    // The item before has left as well.
    const { body: third } = await registry.ask(`/${arks[2]!}`);
    await registry.ask(`/${arks[2]!}`, {
      method: "PUT",
      token: ada.token,
      body: { ...third, name: "changed later" },
    });
    for (const [verb, resumptionToken] of tokens)
      expect(all(await oai({ verb, resumptionToken }), "identifier")).toEqual([arks[2]]);
    await remove(arks[2]!);
    for (const [verb, resumptionToken] of tokens)
      expect(await oai({ verb, resumptionToken })).toContain('status="deleted"');
  });

  it("are refused when they are damaged, foreign, or of another verb", async () => {
    const args = { metadataPrefix: "oai_dc" };
    const good = token(await oai({ verb: "ListRecords", ...args }));
    expect(good).not.toBe("");
    const [body, signature] = good.split(".") as [string, string];
    const state = JSON.parse(Buffer.from(body, "base64url").toString()) as unknown[];
    const forged = (change: unknown): string =>
      `${Buffer.from(JSON.stringify(change)).toString("base64url")}.${signature}`;
    for (const bad of [
      "",
      ".",
      "x",
      "...",
      `${good}A`,
      `${good}.`,
      good.slice(1),
      body,
      `.${signature}`,
      `${body}.${signature.slice(0, -2)}`,
      forged([...state.slice(0, 4), "kind.user", ...state.slice(5)]),
      forged([]),
      forged({ __proto__: 1 }),
      "\u0000".repeat(10),
      "é".repeat(50),
      "' OR 1=1 --",
      "x".repeat(10_000),
    ]) {
      const text = await oai({ verb: "ListRecords", resumptionToken: bad });
      expect(errorOf(text), bad.slice(0, 50)).toBe("badResumptionToken");
    }
    for (const verb of ["ListIdentifiers", "ListSets"])
      expect(errorOf(await oai({ verb, resumptionToken: good }))).toBe("badResumptionToken");
    const sets = token(await oai({ verb: "ListSets" }));
    expect(errorOf(await oai({ verb: "ListRecords", resumptionToken: sets }))).toBe(
      "badResumptionToken",
    );
    // A token of another registry.
    const other = await LiveRegistry.start();
    try {
      const { text } = await other.ask(
        `/oai?${new URLSearchParams({ verb: "ListRecords", resumptionToken: good })}`,
      );
      expect(errorOf(text)).toBe("badResumptionToken");
    } finally {
      await other.stop();
    }
  });
});

describe("errors of the protocol", () => {
  const list = { verb: "ListRecords", metadataPrefix: "oai_dc" };
  it.each<[string, Arguments, string]>([
    ["no verb", {}, "badVerb"],
    ["an unknown verb", { verb: "Describe" }, "badVerb"],
    ["a verb in the wrong case", { verb: "identify" }, "badVerb"],
    ["a verb that is a member of objects", { verb: "constructor" }, "badVerb"],
    [
      "two verbs",
      [
        ["verb", "Identify"],
        ["verb", "Identify"],
      ],
      "badVerb",
    ],
    ["an unknown argument", { verb: "Identify", format: "x" }, "badArgument"],
    ["an argument of another verb", { verb: "Identify", set: "kind.dataset" }, "badArgument"],
    ["a missing prefix", { verb: "ListRecords" }, "badArgument"],
    ["a missing identifier", { verb: "GetRecord", metadataPrefix: "oai_dc" }, "badArgument"],
    [
      "a repeated argument",
      [...Object.entries(list), ["from", "2026-01-01"], ["from", "2026-01-02"]],
      "badArgument",
    ],
    ["a token beside other arguments", { ...list, resumptionToken: "x" }, "badArgument"],
    ["an unknown format", { ...list, metadataPrefix: "marc21" }, "cannotDisseminateFormat"],
    ["an unknown set", { ...list, set: "colour.red" }, "noRecordsMatch"],
    ["a set of an unknown kind", { ...list, set: "kind.planet" }, "noRecordsMatch"],
    ["the set of users", { ...list, set: "kind.user" }, "noRecordsMatch"],
    ["a set of a crate that is not there", { ...list, set: "crate.99999.none" }, "noRecordsMatch"],
    ["a set whose escapes are not UTF-8", { ...list, set: "crate.99999.a!FF" }, "noRecordsMatch"],
    ["a set without identifier", { ...list, set: "owner." }, "noRecordsMatch"],
    ["characters that no set has", { ...list, set: "kind.dataset; DROP" }, "badArgument"],
    ["the year 0", { ...list, from: "0000-01-01" }, "badArgument"],
    ["the year 99999", { ...list, until: "99999-01-01" }, "badArgument"],
    ["a year with a sign", { ...list, from: "+012026-01-01" }, "badArgument"],
    ["a day that is not in the calendar", { ...list, from: "2026-02-30" }, "badArgument"],
    ["an hour that is none", { ...list, from: "2026-01-01T24:00:00Z" }, "badArgument"],
    ["a leap second", { ...list, from: "2016-12-31T23:59:60Z" }, "badArgument"],
    ["fractions of seconds", { ...list, from: "2026-01-01T00:00:00.5Z" }, "badArgument"],
    ["a time zone", { ...list, from: "2026-01-01T00:00:00+01:00" }, "badArgument"],
    ["a month", { ...list, from: "2026-01" }, "badArgument"],
    ["an empty date", { ...list, from: "" }, "badArgument"],
    [
      "two granularities",
      { ...list, from: "2026-01-01", until: "2026-01-02T00:00:00Z" },
      "badArgument",
    ],
    [
      "an end before the beginning",
      { ...list, from: "2026-01-02", until: "2026-01-01" },
      "badArgument",
    ],
    ["a value of ten thousand characters", { ...list, set: "x".repeat(10_000) }, "badArgument"],
    [
      "five thousand arguments",
      [...Object.entries(list), ...Array.from({ length: 4900 }, (): [string, string] => ["a", ""])],
      "badArgument",
    ],
    [
      "NUL in an identifier",
      { verb: "GetRecord", metadataPrefix: "oai_dc", identifier: "ark:99999/a\0b" },
      "idDoesNotExist",
    ],
  ])("%s", async (_what, args, code) => {
    const text = await oai(args);
    expect(errorOf(text), text).toBe(code);
    if (code === "badVerb" || code === "badArgument")
      expect(text).toContain(`<request>${registry.url}/oai</request>`);
    expect(text.length).toBeLessThan(2 ** 16);
  });

  it("are answered for escapes that are no text, and never repeat markup", async () => {
    for (const search of ["verb=%FF%FE", "verb=%", "verb=<script>", "&&&=&=", "%00=1"]) {
      const { status, text } = await registry.ask(`/oai?${search}`);
      expect([status, errorOf(text)], search).toEqual([200, "badVerb"]);
      expect(text).not.toContain("<script>");
    }
    expect((await registry.ask("/oai", { method: "DELETE" })).status).toBe(405);
  });
});
