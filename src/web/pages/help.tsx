import { ServiceError } from "../../errors.js";
import { help, type HelpPage } from "../help.js";
import type { Page, PageRequest, Route } from "../page.js";

const addressOf = (name: string): string => (name === "" ? "/help" : `/help/${name}`);

/** Every page of the documentation, in the order of its index. */
function Contents({ current }: { current: string }) {
  const { navigation, pages } = help();
  return (
    <nav class="contents" aria-label="Help">
      <details class="more" open>
        <summary>All help pages</summary>
        {navigation.map((group) => (
          <>
            <h2>{group.title}</h2>
            <ul>
              {group.pages.map((name) => (
                <li>
                  <a
                    href={addressOf(name)}
                    aria-current={
                      name === current || current.startsWith(`${name}/`) ? "page" : undefined
                    }
                  >
                    {pages[name]!.title}
                  </a>
                </li>
              ))}
            </ul>
          </>
        ))}
      </details>
    </nav>
  );
}

/** Links to the sections of a page. */
export function Sections({ page }: { page: HelpPage }) {
  if (page.sections.length < 3) return null;
  return (
    <nav class="sections" aria-label="On this page">
      <ul>
        {page.sections.map(({ id, title }) => (
          <li>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** A page of the documentation; without a name its index. @throws ServiceError `NOT_FOUND` */
export async function helpPage({ params }: Pick<PageRequest, "params">): Promise<Page> {
  const name = [params["folder"], params["page"]].filter(Boolean).join("/");
  const { pages } = help();
  const page = Object.hasOwn(pages, name) ? pages[name] : undefined;
  if (!page)
    throw new ServiceError(
      "NOT_FOUND",
      `There is no help page ${name.slice(0, 100)}; /help lists all of them.`,
    );
  // The heading of the page, then where its sections are, then the rest.
  const end = page.html.indexOf("</h1>") + "</h1>".length;
  return {
    title: name === "" ? "Help" : page.title,
    description: `Help of this registry: ${page.title}.`,
    section: "help",
    body: (
      <div class="help">
        <Contents current={name} />
        <article>
          <div dangerouslySetInnerHTML={{ __html: page.html.slice(0, end) }} />
          <Sections page={page} />
          <div dangerouslySetInnerHTML={{ __html: page.html.slice(end) }} />
        </article>
      </div>
    ),
  };
}

export const helpRoutes: readonly Route[] = [
  { path: "/help", get: helpPage },
  { path: "/help/{page}", get: helpPage },
  { path: "/help/{folder}/{page}", get: helpPage },
];
