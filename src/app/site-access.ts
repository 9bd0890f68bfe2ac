import type { IncomingMessage } from "node:http";
import { clientAddress } from "../config/client.js";
import { ValidationError } from "../errors.js";
import { AccountResolver } from "../graphql/resolvers/account-resolver.js";
import { attemptsFrom, signedIn } from "../graphql/resolvers/context.js";
import { CrateResolver } from "../graphql/resolvers/crate-resolver.js";
import { SparqlResolver } from "../graphql/resolvers/query-resolver.js";
import type { GraphqlInterface } from "../graphql/server.js";
import { readMultipart } from "../http/body.js";
import { credentialsOf } from "../http/browsers.js";
import { operationsIn } from "../rest/document.js";
import { presence } from "../rest/request.js";
import type { JsonObject } from "../model/field.js";
import { assertScope } from "../services/access/scopes.js";
import type { Authenticator, Identity } from "../services/accounts/tokens.js";
import type { Deps } from "../services/deps.js";
import { askedArk } from "../services/records/find.js";
import type { TypedDocumentString } from "../web/document.js";
import type { SparqlAnswer } from "../web/page.js";
import { type SiteAccess, UNREAD } from "../web/site.js";

const NOBODY: Identity = { caller: null };

/** What pages do by way of the APIs: they know neither GraphQL's transport nor credentials. */
export function siteAccess(
  deps: Deps,
  { authenticator, graphql }: { authenticator: Authenticator; graphql: GraphqlInterface },
  contract: JsonObject,
): SiteAccess {
  const accounts = new AccountResolver();
  const crates = new CrateResolver();
  const sparql = new SparqlResolver();
  const addressOf = clientAddress(deps.config.TRUSTED_PROXIES);
  return {
    identify: async (req, csrf) => {
      const address = addressOf(req);
      const sent =
        csrf === UNREAD
          ? { ...credentialsOf(req, deps, { address }), needs: "nothing" as const }
          : credentialsOf(req, deps, { csrf, address });
      return authenticator.identify(sent);
    },
    ask: async <Result, Variables extends object>(
      req: IncomingMessage,
      reader: Identity,
      document: TypedDocumentString<Result, Variables>,
      variables: Variables,
    ) => (await graphql.execute(req, reader, document.parsed, variables)) as Result,
    uploadCrate: async (req, { update, emptyLinked = false, crate }) => {
      const options = {
        update,
        emptyLinked,
        crate: crate === undefined ? undefined : askedArk(crate),
      };
      const fields = { file: ["file"], texts: ["csrf", "private"] };
      const form = await readMultipart(req, fields, async ({ stream, name }, texts) => {
        // Before anything of the file is stored.
        const csrf = Buffer.from(texts.get("csrf") ?? "").toString("utf8");
        const address = addressOf(req);
        const caller = await authenticator.caller(credentialsOf(req, deps, { csrf, address }));
        const context = signedIn(graphql.context(req, { caller }));
        assertScope(caller, "uploadCrate");
        // A box that is cleared is not sent.
        const visibility = texts.has("private") ? "private" : "open";
        return crates.submit(
          { stream, name: name || "crate.zip" },
          { ...options, visibility },
          context,
        );
      });
      if (!form.file) throw new ValidationError([form.missing]);
      return form.file.taken.submissionUUID;
    },
    sparql: async (req, res, reader, { query, dataset, as, rows }) => {
      let form: SparqlAnswer["form"] = "SELECT";
      const { bytes, truncated } = await sparql.query(
        {
          query,
          dataset,
          rows,
          signal: presence({ res }),
          formatFor(found) {
            form = found;
            if (found === "CONSTRUCT" || found === "DESCRIBE") return "ttl";
            return as === "csv" && found === "SELECT" ? "csv" : "json";
          },
        },
        graphql.context(req, reader),
      );
      const limit = truncated && `${truncated}=${deps.config[truncated]}`;
      return { form, text: Buffer.from(bytes).toString("utf8"), truncated: limit };
    },
    operations: operationsIn(contract).map(({ method, path, tags, summary }) => ({
      method,
      path,
      tag: tags[0]!,
      summary,
    })),
    attempts: (req, guessed) => attemptsFrom(graphql.context(req, NOBODY))(guessed),
    signIn: (req, credentials) => accounts.signIn(credentials, graphql.context(req, NOBODY)),
  };
}
