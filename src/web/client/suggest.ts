// Suggests records, keywords and people while somebody types into a search box.

const QUERY = `query ($words: String!, $name: String!, $people: Boolean!) {
  found: search(query: $words, first: 5) { nodes { name: label } }
  keywords: recordStatistics(filter: { text: $words }, by: [KEYWORD], first: 50) {
    groups { keyword }
  }
  users(filter: { name: { contains: $name } }, first: 3) @include(if: $people) {
    nodes { name }
  }
}`;
const PAUSE = 200;
/** Longer ones are no name that somebody would choose. */
const LONGEST = 120;

interface Answer {
  data?: {
    found: { nodes: { name: string | null }[] } | null;
    keywords: { groups: { keyword: string | null }[] } | null;
    users?: { nodes: { name: string | null }[] } | null;
  };
}

/** Of a session; without one people are not listed. */
const csrf = document.querySelector<HTMLMetaElement>("meta[name=csrf]")?.content;
let asked = 0;

async function suggest(words: string, list: HTMLDataListElement): Promise<void> {
  const mine = ++asked;
  const response = await fetch("/graphql", {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      ...(csrf === undefined ? {} : { "X-CSRF-Token": csrf }),
    },
    body: JSON.stringify({
      query: QUERY,
      variables: { words: `${words}*`, name: words, people: csrf !== undefined },
    }),
  });
  const { data } = (await response.json()) as Answer;
  if (mine !== asked || !data) return;
  const within = (text: string | null): boolean =>
    text !== null && text.toLowerCase().includes(words.toLowerCase());
  const of = (kind: string, names: readonly (string | null)[]) =>
    names.map((name): [string, string] => [kind, name ?? ""]);
  const all = [
    ...of("Record", data.found?.nodes.map(({ name }) => name) ?? []),
    ...of(
      "Keyword",
      (data.keywords?.groups ?? [])
        .map(({ keyword }) => keyword)
        .filter(within)
        .slice(0, 4),
    ),
    ...of("Person", data.users?.nodes.map(({ name }) => name) ?? []),
  ];
  const seen = new Set<string>();
  list.replaceChildren();
  for (const [kind, name] of all) {
    if (name === "" || name.length > LONGEST || seen.has(name)) continue;
    seen.add(name);
    const option = document.createElement("option");
    option.value = name;
    option.label = kind === "Record" ? name : `${name} · ${kind.toLowerCase()}`;
    list.append(option);
  }
}

for (const [at, field] of document
  .querySelectorAll<HTMLInputElement>("input[data-suggest]")
  .entries()) {
  const list = document.createElement("datalist");
  list.id = `suggestions-${at}`;
  field.after(list);
  field.setAttribute("list", list.id);
  field.autocomplete = "off";
  let timer: ReturnType<typeof setTimeout> | undefined;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    const words = field.value.trim();
    if (words.length < 2 || words.length > LONGEST || words.includes("ark:")) return;
    timer = setTimeout(() => void suggest(words, list).catch(() => undefined), PAUSE);
  });
}
