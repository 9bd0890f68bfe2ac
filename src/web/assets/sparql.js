const query = document.getElementById("query");
const state = document.getElementById("state");
const answer = document.getElementById("answer");
const ACCEPT = "application/sparql-results+json, text/turtle;q=0.9";

function element(name, text, attributes = {}) {
  const made = Object.assign(document.createElement(name), attributes);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** An ARK of this registry is a link to its page; all else is text. */
function cell(term) {
  const made = element("td");
  if (!term) return made;
  if (term.type === "uri" && term.value.startsWith("ark:") && !term.value.includes("#")) made.append(element("a", term.value, { href: `/${encodeURI(term.value)}` }));
  else made.textContent = term.value;
  return made;
}

function table({ head, results }) {
  const made = element("table");
  const names = element("tr");
  names.append(...head.vars.map((name) => element("th", name)));
  made.append(names, ...results.bindings.map((row) => {
    const line = element("tr");
    line.append(...head.vars.map((name) => cell(row[name])));
    return line;
  }));
  return made;
}

async function run() {
  state.textContent = "…";
  const began = performance.now();
  try {
    const response = await fetch("/sparql", { method: "POST", headers: { "Content-Type": "application/sparql-query", Accept: ACCEPT }, body: query.value });
    const text = await response.text();
    const type = response.headers.get("Content-Type") ?? "";
    if (!response.ok) {
      state.textContent = `Refused (${response.status}).`;
      answer.replaceChildren(element("pre", JSON.parse(text).detail));
      return;
    }
    const results = type.includes("json") ? JSON.parse(text) : undefined;
    const cut = response.headers.get("X-Truncated");
    state.textContent = `${results?.results ? `${results.results.bindings.length} rows, ` : ""}${Math.round(performance.now() - began)} ms${cut ? `, cut (${cut})` : ""}`;
    answer.replaceChildren(results?.results ? table(results) : element("pre", results ? String(results.boolean) : text));
  } catch (error) {
    state.textContent = String(error);
  }
}

document.getElementById("run").addEventListener("click", run);
document.getElementById("example").addEventListener("change", (event) => {
  query.value = event.target.value;
});
query.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
});
