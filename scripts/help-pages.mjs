// The documentation as help pages of the service: docs/ as HTML, with the twenty questions of docs/graphql.md and the
// queries of docs/cookbook.md, which the explorers offer. Made when the service is built, so that it needs no Markdown
// library when it runs.
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { Marked } from "marked";

const docs = fileURLToPath(new URL("../docs", import.meta.url));

const escaped = (text) => text.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);

/** The anchor of a heading, as code hosts make it. */
const slugOf = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");

const titleOf = (text) => /^# (.+)$/m.exec(text)?.[1].replaceAll("`", "") ?? "";

/** `tutorials/researcher.md` as `tutorials/researcher`; the index has the empty name. */
const nameOf = (path) => path.replace(/\.md$/, "").replace(/(?:^|\/)README$/, "");

const addressOf = (name) => (name === "" ? "/help" : `/help/${name}`);

/**
 * A page as HTML. Raw HTML is text; links lead to help pages, to other sites, or nowhere.
 * @returns the HTML, and the headings of the second level as plain text
 */
export function rendered(path, text, titles) {
  const sections = [];
  const used = new Map();
  const target = (href) => {
    if (/^https?:\/\//.test(href)) return href;
    if (href.startsWith("#")) return href;
    const [file, anchor] = href.split("#", 2);
    const name = nameOf(posix.normalize(posix.join(posix.dirname(path), file)).replace(/\/$/, ""));
    if (!titles.has(name)) return undefined;
    return addressOf(name) + (anchor === undefined ? "" : `#${anchor}`);
  };
  const markdown = new Marked({
    gfm: true,
    renderer: {
      html: ({ text: raw }) => escaped(raw),
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens);
        const words = this.parser.parseInline(tokens, this.parser.textRenderer);
        const slug = slugOf(words);
        const before = used.get(slug) ?? 0;
        used.set(slug, before + 1);
        const id = before === 0 ? slug : `${slug}-${before}`;
        if (depth === 2) sections.push({ id, title: words });
        return `<h${depth} id="${escaped(id)}">${html}</h${depth}>\n`;
      },
      link({ href, tokens, text: words }) {
        const to = target(href);
        // A file name says less than the title of its page.
        const known = titles.get(nameOf(words));
        const html =
          known !== undefined && words.endsWith(".md")
            ? escaped(known)
            : this.parser.parseInline(tokens);
        return to === undefined ? html : `<a href="${escaped(to)}">${html}</a>`;
      },
      image({ href, text: alt }) {
        const file = posix.normalize(posix.join(posix.dirname(path), href));
        return `<img src="/assets/help/${escaped(posix.basename(file))}" alt="${escaped(alt)}" loading="lazy">`;
      },
      code({ text: code }) {
        return `<pre tabindex="0"><code>${escaped(code)}</code></pre>\n`;
      },
      table({ header, rows }) {
        const row = (cells, name) =>
          `<tr>${cells.map(({ tokens }) => `<${name}>${this.parser.parseInline(tokens)}</${name}>`).join("")}</tr>`;
        return (
          `<div class="scroll" tabindex="0"><table><thead>${row(header, "th")}</thead>` +
          `<tbody>${rows.map((cells) => row(cells, "td")).join("")}</tbody></table></div>\n`
        );
      },
    },
  });
  return { html: markdown.parse(text), sections };
}

/** Pages in the order of the index, by its headings. */
function navigationOf(index, titles) {
  const groups = [{ title: "Tutorials", pages: [] }];
  for (const line of index.split("\n")) {
    const heading = /^## (.+)$/.exec(line)?.[1];
    if (heading !== undefined) groups.push({ title: heading, pages: [] });
    for (const [, href] of line.matchAll(/\]\(([^)#]+)\)/g)) {
      const name = nameOf(href);
      if (titles.has(name)) groups.at(-1).pages.push(name);
    }
  }
  return groups.filter(({ pages }) => pages.length > 0);
}

/** The twenty questions of docs/graphql.md: the heading, the first query, its variables. */
function questionsOf(text) {
  const section = text.split(/^## Twenty questions$/m)[1].split(/^## /m)[0];
  return section
    .split(/^### \d+\. /m)
    .slice(1)
    .map((part) => ({
      title: part.split("\n", 1)[0],
      query: /```graphql\n([\s\S]*?)```/.exec(part)[1].trim(),
    }));
}

/** The queries of docs/cookbook.md, each with the prefixes that it needs. */
function cookbookOf(text) {
  const prefixes = /```sparql prefixes\n([\s\S]*?)```/.exec(text)[1].trim().split("\n");
  return text
    .split(/^## \d+\. /m)
    .slice(1)
    .map((part) => {
      const query = /```sparql\n([\s\S]*?)```/.exec(part)[1].trim();
      const needed = prefixes.filter((line) => query.includes(/PREFIX (\w+:)/.exec(line)[1]));
      return { title: part.split("\n", 1)[0], query: [...needed, query].join("\n") };
    });
}

/** @returns the files of the help pages, by name below `dist/web` */
export async function helpFiles() {
  const paths = (await readdir(docs, { recursive: true }))
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".md"))
    .sort();
  const texts = new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(docs, path), "utf8")])),
  );
  const titles = new Map(paths.map((path) => [nameOf(path), titleOf(texts.get(path))]));
  // A folder without a page of its own is a list of its pages.
  const folders = new Set(paths.map((path) => posix.dirname(path)).filter((path) => path !== "."));
  for (const folder of folders)
    if (!titles.has(folder)) {
      const title = folder[0].toUpperCase() + folder.slice(1);
      const list = paths
        .filter((path) => posix.dirname(path) === folder)
        .map((path) => `- [${titleOf(texts.get(path))}](${posix.basename(path)})`);
      texts.set(`${folder}/README.md`, `# ${title}\n\n${list.join("\n")}\n`);
      titles.set(folder, title);
    }
  const pages = Object.fromEntries(
    [...texts].map(([path, text]) => {
      const name = nameOf(path);
      return [name, { title: titles.get(name), ...rendered(path, text, titles) }];
    }),
  );
  const help = {
    pages,
    navigation: navigationOf(texts.get("README.md"), titles),
    questions: questionsOf(texts.get("graphql.md")),
    cookbook: cookbookOf(texts.get("cookbook.md")),
  };
  const images = existsSync(join(docs, "images")) ? await readdir(join(docs, "images")) : [];
  return [
    ["help.json", Buffer.from(JSON.stringify(help))],
    ...(await Promise.all(
      images.map(async (name) => [`help/${name}`, await readFile(join(docs, "images", name))]),
    )),
  ];
}
