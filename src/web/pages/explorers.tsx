import type { ServerResponse } from "node:http";
import { ServiceError } from "../../errors.js";
import { EXPLORER_POLICY } from "../../http/reply.js";
import { PREFIXES } from "../../model/field.js";
import { graphParameters, graphsIn } from "../../services/sparql/answer.js";
import { namesOf } from "../format.js";
import { assetUrl } from "../assets.js";
import { CopyButton, Notice, Outside, Section } from "../components.js";
import { ExplorerDocument } from "../documents.js";
import { counted, countText, shortened } from "../words.js";
import type { Operation, Page, PageRequest, Redirect, Route, SparqlAnswer } from "../page.js";
import { recordPath, withQuery } from "../paths.js";
import { help } from "./help.js";

/** The API explorer: a list of the operations; with script, Swagger UI from this server's own files. */
export async function docsPage({ operations, viewer }: PageRequest): Promise<Page> {
  const tags = new Map<string, Operation[]>();
  for (const operation of operations)
    tags.set(operation.tag, [...(tags.get(operation.tag) ?? []), operation]);
  const script = assetUrl("swagger-ui/swagger-ui-bundle.js");
  return {
    title: "REST API",
    section: "explorers",
    layout: "wide",
    policy: EXPLORER_POLICY,
    styles: [assetUrl("swagger-ui/swagger-ui.css")],
    scripts: ["rest"],
    links: [{ rel: "preload", href: script, as: "script" }],
    body: (
      <>
        <h1>REST API</h1>
        <p>
          {counted(operations.length, "operation")}; the contract as{" "}
          <a href="/openapi.yaml">OpenAPI (YAML)</a>.{" "}
          {viewer ? (
            <>
              Requests are sent as <bdi>{viewer.name}</bdi>, with your session.
            </>
          ) : (
            <>
              <a href="/signin?to=%2Fdocs">Sign in</a> to try what needs an account.
            </>
          )}
        </p>
        <div id="operation-list">
          {[...tags].map(([tag, rows]) => (
            <details class="more">
              <summary>
                {tag} <span class="count">{countText(rows.length)}</span>
              </summary>
              <ul class="plain">
                {rows.map(({ method, path, summary }) => (
                  <li>
                    <code>
                      {method.toUpperCase()} {path}
                    </code>{" "}
                    <span class="quiet">{summary}</span>
                  </li>
                ))}
              </ul>
            </details>
          ))}
        </div>
        <div id="swagger-ui" data-bundle={script} data-user={viewer?.id} />
      </>
    ),
  };
}

const MONTH = 30 * 86_400_000;

/** Identifiers of the records that the documentation asks about. */
const EXAMPLE = /"(ark:99999\/[^"]+)"/g;
const CRATE = "ark:99999/rocrate-example";

/** Records that are here, in place of those that the documentation asks about. */
async function recordsHere({ ask }: PageRequest): Promise<(query: string) => string | undefined> {
  const { crate, project, group, file, experiment } = await ask(ExplorerDocument, {});
  const examples = new Set(
    help().questions.flatMap(({ query }) => [...query.matchAll(EXAMPLE)].map(([, id]) => id!)),
  );
  const here = new Map<string, string | undefined>([
    ["ark:99999/project-example", project.nodes[0]?.id],
    ["ark:99999/group-example", group.nodes[0]?.id],
    ["ark:99999/experiment-example", experiment.nodes[0]?.id],
  ]);
  const [newest] = crate.nodes;
  const inCrate = [...examples].filter((id) => id === CRATE || id.startsWith(`${CRATE}/`));
  if (newest) {
    const own = (id: string): string => newest.id + id.slice(CRATE.length);
    const names = await namesOf(ask, inCrate.map(own));
    for (const id of inCrate) if (names.has(own(id))) here.set(id, own(id));
  }
  const anyFile = file.nodes[0]?.id;
  return (query) => {
    const asked = new Set([...query.matchAll(EXAMPLE)].map(([, id]) => id!));
    const files = [...asked].filter((id) => id.startsWith(`${CRATE}/`));
    let own = query;
    for (const id of asked) {
      // One file stands for another, but not for both ends of a path.
      const record = here.get(id) ?? (files.length === 1 && id === files[0] ? anyFile : undefined);
      if (record === undefined) return undefined;
      own = own.replaceAll(`"${id}"`, JSON.stringify(record));
    }
    if (!own.includes("number: 5")) return own;
    const revisions = experiment.nodes[0]?.revisions.nodes ?? [];
    const change = revisions.find(({ action }) => action === "UPDATE");
    return (
      change && own.replace("number: 5", `number: ${change.number}`).replace("since: 2", "since: 1")
    );
  };
}

/** The questions of the documentation that the records here answer. */
async function questions(request: PageRequest): Promise<{ query: string; variables?: string }[]> {
  const withRecords = await recordsHere(request);
  const since = new Date(Date.now() - MONTH).toISOString().slice(0, 10) + "T00:00:00Z";
  return help().questions.flatMap(({ title, query }) => {
    const own = withRecords(query);
    if (own === undefined) return [];
    const variables = {
      ...(query.includes("$since") ? { since } : {}),
      ...(query.includes("$minSize") ? { minSize: 7500 } : {}),
    };
    return [
      {
        query: `# ${title}\n${own}\n`,
        ...(Object.keys(variables).length > 0
          ? { variables: JSON.stringify(variables, null, 2) }
          : {}),
      },
    ];
  });
}

/** GraphiQL, from this server's own files. */
async function graphqlPage(request: PageRequest): Promise<Page> {
  const { viewer } = request;
  return {
    title: "GraphQL API",
    section: "explorers",
    layout: "wide",
    styles: [assetUrl("graphiql/graphiql.min.css")],
    policy: EXPLORER_POLICY,
    scripts: ["graphql"],
    body: (
      <>
        <h1 class="small-title">GraphQL</h1>
        <div class="explorer-bar">
          <p>
            {viewer ? (
              <>
                Requests are sent as <bdi>{viewer.name}</bdi>, with your session.
              </>
            ) : (
              <>
                Requests see what is public. <a href="/signin?to=%2Fgraphql">Sign in</a> for the
                rest.
              </>
            )}{" "}
            <a href="/help/graphql">Twenty questions, explained</a>
          </p>
          {viewer && (
            <p data-script hidden class="row">
              <label for="file">File for a variable of type Upload</label>
              <input id="file" type="file" />
            </p>
          )}
        </div>
        <noscript>
          <Notice>
            The editor needs a script. <a href="/help/graphql">The help page</a> shows how to send
            queries without it.
          </Notice>
        </noscript>
        <div id="explorer" data-tabs={JSON.stringify(await questions(request))} />
      </>
    ),
  };
}

/** Queries about the registry itself; those of the cookbook follow. */
export const EXAMPLES: Readonly<Record<string, string>> = {
  "Records by kind":
    "SELECT ?kind (COUNT(DISTINCT ?record) AS ?records)\nWHERE { GRAPH ?record { ?record a " +
    "?kind } }\nGROUP BY ?kind ORDER BY DESC(?records)",
  Names:
    "PREFIX schema: <https://schema.org/>\nSELECT ?record ?name\nWHERE { GRAPH ?record { " +
    "?record schema:name ?name } }\nORDER BY ?name LIMIT 100",
  "Which record supports which":
    "PREFIX evi: <https://w3id.org/EVI#>\nSELECT DISTINCT ?result ?source\nWHERE { ?result " +
    "evi:directlySupportedBy ?source }\nLIMIT 100",
};

/**
 * Rows and characters of an answer that the page shows, and characters of rows that it reads: it
 * is put together on the thread that serves. The download has all.
 */
const [SHOWN_ROWS, SHOWN_TEXT, READ_TEXT] = [1_000, 200_000, 4 * 2 ** 20];

interface Term {
  type: string;
  value: string;
  datatype?: string;
  "xml:lang"?: string;
}

/** A term by its prefix, where one is known. */
function shortIri(iri: string): string {
  for (const [prefix, namespace] of Object.entries(PREFIXES))
    if (iri.startsWith(namespace)) return `${prefix}:${iri.slice(namespace.length)}`;
  return shortened(iri, 200);
}

/** A record is a link to its page, an address of the web a link to it; all else is text. */
function Cell({ term }: { term: Term | undefined }) {
  if (!term) return null;
  const { type, value } = term;
  if (type !== "uri")
    return (
      <bdi lang={term["xml:lang"]} title={term.datatype && shortIri(term.datatype)}>
        {shortened(value, 2000)}
      </bdi>
    );
  if (/^ark:/i.test(value)) return <a href={recordPath(value.split("#", 1)[0]!)}>{value}</a>;
  return <Outside href={value}>{shortIri(value)}</Outside>;
}

/** The line of a query in which the parser found an error, from the error on marked. */
function FaultyLine({ problem, query }: { problem: ServiceError; query: string }) {
  const { line: number, column } = problem.extra ?? {};
  if (typeof number !== "number" || typeof column !== "number") return null;
  const line = query.split(/\r?\n/)[number - 1];
  if (line === undefined) return null;
  const [before, after] = [line.slice(0, column - 1), line.slice(column - 1)];
  return (
    <pre tabIndex={0} aria-label={`Line ${number} of the query`}>
      <span class="quiet">{number} </span>
      {before.length > 200 ? `…${before.slice(-200)}` : before}
      <mark>{after === "" ? " " : shortened(after, 200)}</mark>
    </pre>
  );
}

/** Milliseconds as people write them: `40 ms`, `1.2 s`. */
const durationText = (milliseconds: number): string =>
  milliseconds < 1000
    ? `${Math.max(1, Math.round(milliseconds))} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`;

interface AnswerProps {
  answer: SparqlAnswer;
  /** Where the rows are as CSV. */
  download: string;
}

function Answer({ answer, download }: AnswerProps) {
  const { form, text, truncated } = answer;
  const cut = truncated && (
    <Notice tone="warning">
      The answer was cut: {truncated}. A LIMIT or a narrower query helps.
    </Notice>
  );
  if (form === "CONSTRUCT" || form === "DESCRIBE")
    return (
      <>
        {cut}
        <pre tabIndex={0}>{text === "" ? "The graph is empty." : text.slice(0, SHOWN_TEXT)}</pre>
        {text.length > SHOWN_TEXT && <p>The rest is not shown here.</p>}
      </>
    );
  const csv = (
    <a href={download} download="answer.csv">
      Download as CSV
    </a>
  );
  if (text.length > READ_TEXT)
    return (
      <>
        <Notice tone="warning">
          The first {countText(SHOWN_ROWS)} rows are too long for a page. A LIMIT helps.
        </Notice>
        <p>{csv}</p>
      </>
    );
  const parsed = JSON.parse(text) as {
    head: { vars?: string[] };
    boolean?: boolean;
    results?: { bindings: Record<string, Term>[] };
  };
  if (!parsed.results)
    return (
      <p>
        <strong>{parsed.boolean ? "Yes." : "No."}</strong>
      </p>
    );
  const { vars = [] } = parsed.head;
  const rows = parsed.results.bindings;
  if (rows.length === 0) return <p>No row matches.</p>;
  return (
    <>
      {cut}
      <p class="row">
        <span>
          {rows.length > SHOWN_ROWS
            ? `The first ${countText(SHOWN_ROWS)} rows`
            : counted(rows.length, "row")}
        </span>
        {csv}
      </p>
      <div class="scroll" tabIndex={0}>
        <table class="rows">
          <thead>
            <tr>
              {vars.map((name) => (
                <th scope="col">{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, SHOWN_ROWS).map((row) => (
              <tr>
                {vars.map((name) => (
                  <td>
                    <Cell term={row[name]} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Rows as a file; of the graphs of a CONSTRUCT and the answer of an ASK there is none. */
function sendCsv(res: ServerResponse, { text, truncated }: SparqlAnswer): void {
  res.writeHead(200, {
    "Content-Type": "text/csv; charset=utf-8",
    "Content-Disposition": 'attachment; filename="answer.csv"',
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
    ...(truncated && { "X-Truncated": truncated }),
  });
  res.end(text);
}

/** A page to write queries in; the address of an answer has its query. */
export async function sparqlPage(request: PageRequest): Promise<Page | Redirect> {
  const { query, res, base } = request;
  const asked = query.get("query");
  const dataset = graphsIn(query);
  const graphs = graphParameters(dataset);
  const address = withQuery("/sparql", { query: asked, ...graphs });
  let answer: SparqlAnswer | undefined;
  let problem: ServiceError | undefined;
  const begun = performance.now();
  if (asked !== null && asked.trim() !== "")
    try {
      const as = query.get("as") === "csv" ? "csv" : "page";
      answer = await request.sparql({
        query: asked,
        dataset,
        as,
        ...(as === "page" && { rows: SHOWN_ROWS }),
      });
      if (as === "csv" && answer.form === "SELECT") {
        sendCsv(res, answer);
        answer = undefined;
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      problem = error;
    }
  // A form sends lines as CRLF.
  const shown = asked?.replaceAll("\r\n", "\n") ?? Object.values(EXAMPLES)[0]!;
  const took = durationText(performance.now() - begun);
  const options = [
    ...Object.entries(EXAMPLES),
    ...help().cookbook.map(({ title, query: text }) => [title, text] as const),
  ];
  return {
    ...(problem && { status: problem.status }),
    title: "SPARQL",
    section: "explorers",
    policy: EXPLORER_POLICY,
    scripts: ["sparql"],
    body: (
      <div class="console">
        <h1>SPARQL</h1>
        <p>
          Queries over everything that is public. The default graph is the union of all records; the
          graph of a record is named by its ARK. <a href="/help/cookbook">Cookbook</a>,{" "}
          <a href="/help/sparql">limits and formats</a>
        </p>
        <form id="sparql" action="/sparql" data-prefixes={JSON.stringify(PREFIXES)}>
          {Object.entries(graphs).flatMap(([name, values]) =>
            values.map((value) => <input type="hidden" name={name} value={value} />),
          )}
          <div data-script hidden>
            <label for="example">Examples</label>
            <div class="row">
              <select id="example">
                <option value="">Choose a question…</option>
                {options.map(([title, text]) => (
                  <option value={text} selected={text.trim() === shown.trim()}>
                    {title}
                  </option>
                ))}
              </select>
            </div>
          </div>
          <div id="plain">
            <label for="query">Query</label>
            <textarea id="query" name="query" rows={12} spellcheck={false}>
              {shown}
            </textarea>
          </div>
          <div id="editor" />
          <p class="actions">
            <button>Run</button>
            <span class="quiet" data-script hidden>
              Control + Enter runs, Control + Space completes.
            </span>
          </p>
        </form>
        {problem && (
          <Notice tone="danger">
            <p>{problem.message}</p>
            <FaultyLine problem={problem} query={asked ?? ""} />
          </Notice>
        )}
        {answer && (
          <Section aria-label="Answer" title="Answer" count={`in ${took}`}>
            <Answer
              answer={answer}
              download={withQuery("/sparql", { query: asked, ...graphs, as: "csv" })}
            />
            <p class="quiet">
              This address shows the same query again: it can be shared.{" "}
              <CopyButton text={base + address} label="Copy the address" />
            </p>
          </Section>
        )}
      </div>
    ),
  };
}

export const explorerRoutes: readonly Route[] = [
  { path: "/docs", get: docsPage },
  { path: "/graphql", get: graphqlPage },
  { path: "/sparql", get: sparqlPage },
];
