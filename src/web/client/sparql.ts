// The editor of the SPARQL page: colours, completion of what occurs in this registry, examples. The form stays a form:
// the answer is a page with an address.
import {
  autocompletion,
  closeBrackets,
  type Completion,
  type CompletionContext,
  completionKeymap,
  type CompletionResult,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import {
  bracketMatching,
  HighlightStyle,
  StreamLanguage,
  syntaxHighlighting,
} from "@codemirror/language";
import { sparql } from "@codemirror/legacy-modes/mode/sparql";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

interface Results {
  results: { bindings: { term: { type: string; value: string } }[] };
}

const form = document.getElementById("sparql") as HTMLFormElement;
const area = document.getElementById("query") as HTMLTextAreaElement;
const examples = document.getElementById("example") as HTMLSelectElement;
const prefixes = JSON.parse(form.dataset["prefixes"]!) as Record<string, string>;

const KEYWORDS =
  "SELECT DISTINCT WHERE GRAPH OPTIONAL UNION FILTER BIND VALUES ORDER GROUP HAVING LIMIT OFFSET ASK CONSTRUCT " +
  "DESCRIBE PREFIX COUNT SUM MIN MAX AVG SAMPLE REGEX CONTAINS STRSTARTS LCASE STR LANG BOUND EXISTS MINUS";
const keywords: Completion[] = KEYWORDS.split(" ").map((label) => ({ label, type: "keyword" }));

/** Classes and predicates of the registry, asked for once in a tab when somebody types the first term. */
let terms: Promise<Completion[]> | undefined;
const STORED = "sparql terms";
const TERMS: readonly [string, string][] = [
  ["class", "SELECT DISTINCT ?term WHERE { ?record a ?term } LIMIT 1000"],
  ["property", "SELECT DISTINCT ?term WHERE { ?record ?term ?value } LIMIT 1000"],
];

async function askTerms(query: string): Promise<string[]> {
  const response = await fetch("/sparql", {
    method: "POST",
    headers: {
      "Content-Type": "application/sparql-query",
      Accept: "application/sparql-results+json",
      "X-CSRF-Token": document.querySelector<HTMLMetaElement>("meta[name=csrf]")?.content ?? "",
    },
    body: query,
  });
  if (!response.ok) return [];
  const { results } = (await response.json()) as Results;
  return results.bindings.map(({ term }) => term.value);
}

/** A term by its prefix; `<…>` where there is none. */
function shortTerm(iri: string): string {
  for (const [prefix, namespace] of Object.entries(prefixes)) {
    const rest = iri.startsWith(namespace) ? iri.slice(namespace.length) : undefined;
    if (rest !== undefined && /^\w[\w-]*$/.test(rest)) return `${prefix}:${rest}`;
  }
  return `<${iri}>`;
}

async function loadTerms(): Promise<Completion[]> {
  const stored = sessionStorage.getItem(STORED);
  const known = stored
    ? (JSON.parse(stored) as [string, string[]][])
    : await Promise.all(
        TERMS.map(async ([type, query]) => [type, await askTerms(query)] as [string, string[]]),
      );
  if (!stored) sessionStorage.setItem(STORED, JSON.stringify(known));
  return known.flatMap(([type, iris]) =>
    iris.map((iri) => ({ label: shortTerm(iri), detail: type, type, apply: insert })),
  );
}

/** Inserts a term, and declares its prefix where the query does not. */
function insert(view: EditorView, { label }: Completion, from: number, to: number): void {
  const prefix = /^(\w+):/.exec(label)?.[1];
  const text = view.state.doc.toString();
  const declared =
    prefix === undefined || new RegExp(`PREFIX\\s+${prefix}\\s*:`, "i").test(text)
      ? ""
      : `PREFIX ${prefix}: <${prefixes[prefix]!}>\n`;
  view.dispatch({
    changes: [
      { from: 0, insert: declared },
      { from, to, insert: label },
    ],
    selection: { anchor: declared.length + from + label.length },
  });
}

async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  const word = context.matchBefore(/[<?$]?[\w:/#.-]+/);
  if (!word && !context.explicit) return null;
  const from = word?.from ?? context.pos;
  const text = context.state.doc.toString();
  if (/PREFIX\s+\w*$/i.test(text.slice(0, context.pos)))
    return {
      from,
      options: Object.entries(prefixes).map(([prefix, namespace]) => ({
        label: `${prefix}: <${namespace}>`,
        type: "namespace",
      })),
    };
  const variables = [...new Set(text.match(/[?$]\w+/g))].map((label) => ({
    label,
    type: "variable",
  }));
  terms ??= loadTerms().catch(() => []);
  return {
    from,
    options: [...variables, ...(await terms), ...keywords],
    validFor: /^[\w:/#.?-]*$/,
  };
}

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent)", fontWeight: "600" },
  { tag: [tags.variableName, tags.special(tags.variableName)], color: "var(--k-computation)" },
  { tag: [tags.string, tags.number, tags.literal], color: "var(--k-software)" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
  { tag: [tags.atom, tags.standard(tags.name), tags.meta], color: "var(--k-user)" },
]);

const run = (): boolean => {
  form.requestSubmit();
  return true;
};

const view = new EditorView({
  doc: area.value,
  parent: document.getElementById("editor")!,
  extensions: [
    lineNumbers(),
    history(),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ override: [complete] }),
    keymap.of([
      { key: "Mod-Enter", run },
      ...completionKeymap,
      ...defaultKeymap,
      ...historyKeymap,
      indentWithTab,
    ]),
    StreamLanguage.define(sparql),
    syntaxHighlighting(colours),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": "Query" }),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) area.value = state.doc.toString();
    }),
  ],
});
document.getElementById("plain")!.hidden = true;
examples.addEventListener("change", () => {
  if (examples.value === "") return;
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: examples.value } });
  view.focus();
});
