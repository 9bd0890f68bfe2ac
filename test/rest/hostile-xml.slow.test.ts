import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { crate, zip } from "../support/crates.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { User } from "../support/registry-client.js";

/** Nine entities of ten references each: a billion characters for a parser that expands them. */
const LAUGHS = `<?xml version="1.0"?><!DOCTYPE z [<!ENTITY a0 "ha">${Array.from(
  { length: 9 },
  (_, index) => `<!ENTITY a${index + 1} "${`&a${index};`.repeat(10)}">`,
).join("")}]><z>&a9;</z>`;
const FILE =
  '<?xml version="1.0"?><!DOCTYPE z [<!ENTITY x SYSTEM "file:///etc/passwd">]><z>&x;</z>';
const OUTSIDE = (url: string): string =>
  `<?xml version="1.0"?><!DOCTYPE z SYSTEM "${url}/asked.dtd"><z/>`;
const DEEP = "<z>".repeat(100_000) + "</z>".repeat(100_000);
const XML_TYPES = ["application/xml", "text/xml", "application/rdf+xml", "image/svg+xml"];
/** Where documents are uploaded. */
const PATHS = [
  "/rocrate/metadata",
  "/rocrate/validate",
  "/dataset",
  "/api/v1/lineage",
  "/schema",
  "/graphql",
];

let registry: LiveRegistry;
/** Counts requests for what documents name. */
const elsewhere = createServer((_, res) => {
  asked++;
  res.end("<!ENTITY x 'y'>");
});
let asked = 0;
let ada: User;
let documents: [name: string, text: string][];
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user("Ada");
  await once(elsewhere.listen(0, "127.0.0.1"), "listening");
  const { port } = elsewhere.address() as AddressInfo;
  documents = [
    ["entities that expand", LAUGHS],
    ["a local file", FILE],
    ["a document type elsewhere", OUTSIDE(`http://127.0.0.1:${port}`)],
    ["deep nesting", DEEP],
  ];
});
afterAll(async () => {
  elsewhere.close();
  await registry?.stop();
});

const send = (path: string, type: string, body: string) =>
  fetch(registry.url + path, {
    method: "POST",
    headers: { Authorization: `Bearer ${ada.token}`, "Content-Type": type },
    body,
  });

describe("hostile XML", () => {
  it("is refused wherever documents are uploaded, whatever it is called", async () => {
    const before = process.cpuUsage();
    for (const [name, text] of documents)
      for (const path of PATHS)
        for (const type of [...XML_TYPES, "application/json", "application/ld+json"]) {
          const answer = await send(path, type, text);
          const said = await answer.text();
          const at = `${name} as ${type} to ${path}: ${answer.status} ${said.slice(0, 200)}`;
          if (path === "/rocrate/validate" && answer.status === 200)
            expect(said, at).toContain('"conforms":false');
          else expect([400, 413, 415, 422], at).toContain(answer.status);
          expect(said, at).not.toContain("root:");
          expect(said, at).not.toMatch(/(?:ha){20}/);
        }
    // Nothing expands or descends.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(20_000);
  });

  it.each(["ro-crate-metadata.json", "croissant.json", "datapackage.json"])(
    "is refused in place of %s",
    async (name) => {
      for (const [what, text] of documents) {
        const submission = await registry.take(await zip({ [name]: text }), ada.token);
        expect(submission["status"], what).toBe("failed");
      }
    },
  );

  it("in a file of a crate is stored as it is, and never read as XML", async () => {
    const files = Object.fromEntries(
      documents.slice(0, 3).map(([, text], index) => [`data/${index}.svg`, text]),
    );
    const submission = await registry.take(
      await crate(
        Object.keys(files).map((id) => ({
          "@id": id,
          "@type": "File",
          name: id,
          encodingFormat: "image/svg+xml",
        })),
        files,
        { hasPart: Object.keys(files).map((id) => ({ "@id": id })) },
      ),
      ada.token,
    );
    expect(submission).toMatchObject({ status: "finished" });
    const root = submission["rocrateIdentifier"] as string;
    for (const [id, text] of Object.entries(files)) {
      const answer = await registry.ask(`/datadownload/${root}/${id}/download`, {
        token: ada.token,
      });
      expect([answer.status, answer.text]).toEqual([200, text]);
      expect(answer.headers.get("content-security-policy")).toContain("sandbox");
    }
  });

  it("never makes the registry ask for the files that it names", () => {
    expect(asked).toBe(0);
  });
});
