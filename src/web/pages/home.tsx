import { Empty, Section } from "../components.js";
import type { ComponentChildren } from "preact";
import { RecordCard, RecordLink } from "../record-components.js";
import { HomeDocument, type HomeQuery } from "../documents.js";
import { feedLink, recordPath } from "../paths.js";
import type { Page, PageRequest, Route } from "../page.js";
import { plainText } from "../../model/texts.js";
import { countText, shortened } from "../words.js";
import { assetUrl } from "../assets.js";
import { type Origin, OriginSentence, readOrigin } from "./record/origin.js";
import { Picture } from "./record/provenance.js";
import { KindNumbers, kindNumbers, withoutDrafts } from "./search.js";

export async function home(request: PageRequest): Promise<Page> {
  const { ask, base, viewer } = request;
  const shown = await withoutDrafts(request);
  const { recordStatistics, roCrates, prepared } = await ask(HomeDocument, { shown });
  const numbers = await kindNumbers(request, recordStatistics.groups, shown);
  const example = await exampleAmong(request, roCrates.nodes);
  return {
    title: "Arkgraph",
    hasSearch: true,
    description:
      "A registry of research objects: what they are, where their files are, and which result " +
      "came from what.",
    links: [feedLink({})],
    styles: [assetUrl("picture.css")],
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
          <KindNumbers numbers={numbers} />
        </section>
        {example}
        {/* Fewer are all in the list of the newest. */}
        {roCrates.pageInfo.hasNextPage && <Prepared crates={prepared.nodes} />}
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

/** Crates of which most is stated that programs need, by the scores that are known. */
function Prepared({ crates }: { crates: HomeQuery["prepared"]["nodes"] }) {
  // A crate that has changed since has no score.
  const scored = crates.filter(({ score }) => score !== null);
  if (scored.length === 0) return null;
  return (
    <Section title="Crates with the highest AI-readiness">
      <div class="cards">
        {scored.map((crate) => (
          <RecordCard record={crate}>
            <p class="meta">
              <a href={`${recordPath(crate.id)}#score`}>
                {countText(crate.score!.totals.met)} of {countText(crate.score!.totals.total)}{" "}
                criteria
              </a>
            </p>
            {crate.description && <p dir="auto">{shortened(plainText(crate.description), 280)}</p>}
          </RecordCard>
        ))}
      </div>
    </Section>
  );
}

/** How the newest of these crates of which anything is stated came about, in a sentence and a picture. */
async function exampleAmong(
  request: PageRequest,
  crates: HomeQuery["roCrates"]["nodes"],
): Promise<ComponentChildren> {
  for (const crate of crates) {
    const origin = await readOrigin(request, crate.id);
    if (!origin) return null;
    if (origin.picture.edges.length > 0) return <Example {...{ crate, origin }} />;
  }
  return null;
}

function Example({
  crate,
  origin,
}: {
  crate: HomeQuery["roCrates"]["nodes"][number];
  origin: Origin;
}) {
  return (
    <Section title="For example, from inputs to results">
      <p>
        <strong>
          <RecordLink record={crate} glyph />
        </strong>
      </p>
      {origin.facts && <OriginSentence origin={origin.facts} />}
      <Picture picture={origin.picture} />
    </Section>
  );
}

export const homeRoutes: readonly Route[] = [{ path: "/", get: home }];
