import { Empty, Section } from "../components.js";
import { RecordCard } from "../record-components.js";
import { HomeDocument, type HomeQuery } from "../documents.js";
import { kindOf } from "../format.js";
import { feedLink } from "../paths.js";
import { countText, kindText } from "../words.js";
import type { Page, PageRequest, Route } from "../page.js";

export async function home({ ask, base, viewer }: PageRequest): Promise<Page> {
  const { recordStatistics, roCrates } = await ask(HomeDocument, {});
  return {
    title: "Arkgraph",
    hasSearch: true,
    description:
      "A registry of research objects: what they are, where their files are, and which result " +
      "came from what.",
    links: [feedLink({})],
    body: (
      <>
        <section class="hero">
          <h1>Find research objects, and where they came from</h1>
          <form class="find large" action="/search" role="search" aria-label="Search the registry">
            <input
              type="search"
              name="q"
              data-suggest
              aria-label="Search words or an identifier"
              placeholder="For example: protein images, or ark:59852/…"
            />
            <button>Search</button>
          </form>
          <Numbers groups={recordStatistics.groups} />
        </section>
        <Section title="Crates published last">
          {roCrates.nodes.length === 0 ? (
            <Empty title="No crate is public yet.">
              <p>
                {viewer ? (
                  <>
                    <a class="button" href="/upload">
                      Upload a crate
                    </a>{" "}
                    and publish it at its page.
                  </>
                ) : (
                  <>
                    <a class="button" href="/signup">
                      Create an account
                    </a>{" "}
                    to upload and publish the first one.
                  </>
                )}
              </p>
            </Empty>
          ) : (
            <div class="cards">
              {roCrates.nodes.map((crate) => (
                <RecordCard record={crate} />
              ))}
            </div>
          )}
        </Section>
        <Section class="start" title="How to start">
          <ol>
            <li>
              <strong>Somebody sent you a link?</strong> Open it: the page says what the object is,
              how to cite it and where it came from. No account is needed.
            </li>
            <li>
              <strong>You have results to share?</strong> <a href="/upload">Upload</a> a folder or
              an RO-Crate; every file gets an identifier at{" "}
              <code>{base.replace(/^https?:\/\//, "")}/ark:…</code>
            </li>
            <li>
              <strong>You write programs?</strong> Ask over <a href="/graphql">GraphQL</a>,{" "}
              <a href="/docs">REST</a> or <a href="/sparql">SPARQL</a>.
            </li>
          </ol>
        </Section>
      </>
    ),
  };
}

type Groups = HomeQuery["recordStatistics"]["groups"];

/** What the registry holds, each number a link to its list. */
function Numbers({ groups }: { groups: Groups }) {
  if (groups.length === 0) return null;
  return (
    <ul class="numbers">
      {groups.slice(0, 8).map(
        ({ kind, count }) =>
          kind !== null && (
            <li>
              <a href={`/browse/${kindOf(kind)}`}>
                <strong>{countText(count)}</strong> {kindText(kind, count !== 1).toLowerCase()}
              </a>
            </li>
          ),
      )}
    </ul>
  );
}

export const homeRoutes: readonly Route[] = [{ path: "/", get: home }];
