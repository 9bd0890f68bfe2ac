import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Certificate, opensslInstalled } from "../../../support/certificate.js";
import { RegistryProcess } from "../../../support/registry-process.js";
import { sparqlServer } from "../../../support/servers/installed.js";
import { NGINX, nginxInstalled } from "../../../support/servers/nginx.js";
import { OXIGRAPH } from "../../../support/servers/oxigraph.js";
import { TlsFront } from "../../../support/servers/tls-front.js";

const endpoint = sparqlServer(OXIGRAPH);
const USER = "arkgraph";
const PASSWORD = "p:ss wörd of the index";
/** What must be nowhere: the password, and user and password as they are sent. */
const secrets = (password: string): string[] => [
  password,
  Buffer.from(`${USER}:${password}`).toString("base64"),
];

describe.skipIf(!endpoint.installed || !nginxInstalled || !opensslInstalled)(
  "a SPARQL endpoint behind TLS that asks for a password",
  { timeout: 90_000 },
  () => {
    let certificate: Certificate;
    let front: TlsFront;
    const open: RegistryProcess[] = [];
    beforeAll(async () => {
      certificate = new Certificate();
      await endpoint.start();
      front = await TlsFront.start(NGINX!, endpoint.origin, certificate, USER, PASSWORD);
    }, 60_000);
    afterEach(() => Promise.all(open.splice(0).map((registry) => registry.stop())));
    afterAll(async () => {
      await front?.stop();
      certificate?.remove();
    });

    const registryWith = async (settings: Record<string, string>): Promise<RegistryProcess> => {
      const registry = await RegistryProcess.start({
        env: {
          LOG_LEVEL: "debug",
          SPARQL_QUERY_URL: `${front.url}${OXIGRAPH.query}`,
          SPARQL_UPDATE_URL: `${front.url}${OXIGRAPH.update}`,
          SPARQL_USER: USER,
          SPARQL_PASSWORD: PASSWORD,
          ...settings,
        },
      });
      open.push(registry);
      return registry;
    };
    const created = async (registry: RegistryProcess): Promise<string> => {
      const ada = await registry.user("Ada");
      return (
        await registry.ask("/dataset", {
          token: ada.token,
          body: {
            "@type": "evi:Dataset",
            name: "Behind TLS",
            description: "Whose graph lies elsewhere.",
            owner: ada.ark,
          },
        })
      ).body["@id"] as string;
    };
    const trusted = (): Record<string, string> => ({ NODE_EXTRA_CA_CERTS: certificate.file });

    it(
      "is filled and queried with the password, with a certificate that " +
        "NODE_EXTRA_CA_CERTS trusts",
      async () => {
        const registry = await registryWith(trusted());
        const ark = await created(registry);
        let status = 0;
        for (const end = Date.now() + 30_000; status !== 200 && Date.now() < end; await pause(100))
          ({ status } = await registry.ask(`/evidencegraph/query/${ark}`));
        expect(status).toBe(200);
        const answer = await registry.ask("/sparql", {
          body: `ASK { GRAPH <${ark}> { ?s ?p ?o } }`,
          headers: {
            "Content-Type": "application/sparql-query",
            Accept: "application/sparql-results+json",
          },
        });
        expect(answer.body).toMatchObject({ boolean: true });
        expect((await registry.ask("/healthz")).body).toMatchObject({ status: "healthy" });
        for (const secret of secrets(PASSWORD)) expect(registry.log).not.toContain(secret);
      },
    );

    it.each([
      [
        "with a wrong password",
        { SPARQL_PASSWORD: "not the password" },
        true,
        /answers 401; see SPARQL_USER and SPARQL_PASSWORD/,
      ],
      [
        "without a password",
        { SPARQL_USER: "", SPARQL_PASSWORD: "" },
        true,
        /answers 401; see SPARQL_USER and SPARQL_PASSWORD/,
      ],
      [
        "where nobody vouches for its certificate",
        {},
        false,
        /cannot be reached \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
      ],
    ] as const)(
      "is not used %s: records go on, the log says why, and no secret is logged",
      async (_, settings, trusting, reason) => {
        const registry = await registryWith({ ...(trusting ? trusted() : {}), ...settings });
        const ark = await created(registry);
        expect((await registry.ask(`/${ark}`)).status).toBe(200);
        const { status, text } = await registry.ask(`/evidencegraph/query/${ark}`);
        expect(status).toBe(503);
        const health = await registry.ask("/healthz");
        expect(health).toMatchObject({
          status: 503,
          body: { checks: { index: "failed", records: "ok" } },
        });
        expect(registry.log).toMatch(reason);
        for (const secret of [...secrets(PASSWORD), ...secrets("not the password")])
          for (const logged of [registry.log, text, health.text])
            expect(logged).not.toContain(secret);
      },
    );
  },
);
