// Filters that the reader saves in this browser, beside those that the page has.

interface Saved {
  name: string;
  query: string;
}

const KEY = "saved filters";
/** More would not fit beside the list. */
const MOST = 20;
const list = document.querySelector<HTMLElement>("[data-filters]");

function read(): Saved[] {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "[]") as Saved[];
  } catch {
    return [];
  }
}

function show(path: string): void {
  for (const old of list!.querySelectorAll("[data-saved]")) old.remove();
  for (const { name, query } of read()) {
    const item = document.createElement("li");
    item.dataset["saved"] = "";
    const link = document.createElement("a");
    link.href = `${path}?${query}`;
    link.textContent = name;
    const remove = document.createElement("button");
    remove.type = "button";
    remove.className = "link";
    remove.textContent = "✕";
    remove.setAttribute("aria-label", `Forget the filter ${name}`);
    remove.addEventListener("click", () => {
      localStorage.setItem(KEY, JSON.stringify(read().filter((saved) => saved.name !== name)));
      show(path);
    });
    item.append(link, remove);
    // Before the button that saves another, where the page has it.
    list!.insertBefore(item, list!.querySelector("[data-script]"));
  }
}

if (list) {
  const path = list.dataset["filters"]!;
  const button = list.querySelector<HTMLButtonElement>("[data-save-filter]");
  button?.addEventListener("click", () => {
    const name = prompt("What do you call this filter?")?.trim().slice(0, 60);
    if (!name) return;
    const query = new URLSearchParams(location.search);
    query.delete("after");
    query.delete("before");
    const others = read().filter((saved) => saved.name !== name);
    const next = [...others, { name, query: query.toString() }].slice(-MOST);
    localStorage.setItem(KEY, JSON.stringify(next));
    show(path);
  });
  show(path);
}
