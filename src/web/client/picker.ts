// Fields that take an identifier suggest records by their names.

const QUERY = `query ($query: String!) {
  search(query: $query, first: 8) { nodes { id name kind } }
}`;
const PAUSE = 250;

interface Answer {
  data?: { search: { nodes: { id: string; name: string | null; kind: string | null }[] } };
}

const options = document.getElementById("picker-options");
const csrf = document.querySelector<HTMLMetaElement>("meta[name=csrf]")?.content ?? "";
let asked = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

async function suggest(words: string): Promise<void> {
  const mine = ++asked;
  const response = await fetch("/graphql", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
    body: JSON.stringify({ query: QUERY, variables: { query: `${words}*` } }),
  });
  const { data } = (await response.json()) as Answer;
  if (mine !== asked || !data || !options) return;
  options.replaceChildren();
  for (const { id, name, kind } of data.search.nodes) {
    const option = document.createElement("option");
    option.value = id;
    option.label = [name, kind?.toLowerCase().replaceAll("_", " ")].filter(Boolean).join(" · ");
    options.append(option);
  }
}

for (const field of document.querySelectorAll<HTMLInputElement>("input[data-picker]")) {
  field.setAttribute("list", "picker-options");
  field.addEventListener("input", () => {
    clearTimeout(timer);
    const words = field.value.trim();
    if (words.length < 2 || words.startsWith("ark:")) return;
    timer = setTimeout(() => void suggest(words).catch(() => undefined), PAUSE);
  });
}
