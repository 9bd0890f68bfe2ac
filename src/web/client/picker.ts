// Fields that take an identifier suggest records by their names.
import { ask } from "./shared/ask.js";

const RECORDS = `query ($query: String!) {
  found: search(query: $query, first: 8) { nodes { id name: label kind } }
}`;
/** People are not in the search of records. */
const PEOPLE = `query ($query: String!) {
  found: users(filter: { name: { contains: $query } }, first: 8) { nodes { id name: label kind } }
}`;
/** Only the whole address finds somebody. */
const PERSON = `query ($query: String!) { found: userByEmail(email: $query) { id name: label kind } }`;
const PAUSE = 250;

interface Found {
  id: string;
  name: string | null;
  kind: string | null;
}

interface Answer {
  found: { nodes: Found[] } | Found | null;
}

const options = document.getElementById("picker-options");
let asked = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

const isAddress = (words: string): boolean => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(words);

async function suggest(words: string, kind: string): Promise<void> {
  const mine = ++asked;
  const data = await (kind === "USER"
    ? ask<Answer>(isAddress(words) ? PERSON : PEOPLE, { query: words })
    : ask<Answer>(RECORDS, { query: `${words}*` }));
  if (mine !== asked || !data || !options) return;
  options.replaceChildren();
  const nodes = data.found === null ? [] : "nodes" in data.found ? data.found.nodes : [data.found];
  for (const { id, name, kind: found } of nodes) {
    const option = document.createElement("option");
    // People are chosen by name; the identifier behind it says which of one name.
    option.value = kind === "" ? id : `${name ?? ""} ${id}`.trim();
    if (kind === "")
      option.label = [name, found?.toLowerCase().replaceAll("_", " ")].filter(Boolean).join(" · ");
    options.append(option);
  }
}

for (const field of document.querySelectorAll<HTMLInputElement>("input[data-picker]")) {
  field.setAttribute("list", "picker-options");
  field.addEventListener("input", () => {
    clearTimeout(timer);
    const words = field.value.trim();
    if (words.length < 2 || words.includes("ark:")) return;
    const kind = field.dataset["picker"] ?? "";
    timer = setTimeout(() => void suggest(words, kind).catch(() => undefined), PAUSE);
  });
}
