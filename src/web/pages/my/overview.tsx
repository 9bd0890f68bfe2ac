/** One's work at a glance: numbers, crates, newest uploads and groups. */
import { Empty, Section } from "../../components.js";
import { RecordCard, RecordLink } from "../../record-components.js";
import { countText, sizeText } from "../../words.js";
import type { Page, PageRequest, Route } from "../../page.js";
import { MyWorkDocument } from "../../documents.js";
import { own, pageOf, STATUSES } from "./frame.js";
import { Submissions } from "./submissions.js";

async function overview({ ask, viewer }: PageRequest): Promise<Page> {
  const { submissions, statuses, crates, me, requests } = await ask(MyWorkDocument, {
    me: viewer!.id,
  });
  const groups = [...(me?.organizations.nodes ?? []), ...(me?.projects.nodes ?? [])];
  return pageOf(
    "My work",
    "/my",
    <>
      <section>
        <ul class="numbers">
          {statuses.groups.map(
            ({ publicationStatus: status, count, bytes }) =>
              status && (
                <li>
                  <a href={`/my/records?status=${status}`}>
                    <strong>{countText(count)}</strong> {STATUSES[status]}
                  </a>
                  {bytes > 0 && <span class="quiet"> ({sizeText(bytes)})</span>}
                </li>
              ),
          )}
          {requests.totalCount > 0 && (
            <li>
              <a href="/my/access">
                <strong>{countText(requests.totalCount)}</strong>{" "}
                {requests.totalCount === 1 ? "request" : "requests"} for access
              </a>
            </li>
          )}
        </ul>
        <p class="actions">
          <a class="button" href="/upload">
            Upload
          </a>
          <a class="button secondary" href="/new">
            New record
          </a>
          <a class="button secondary" href="/reserve">
            Reserve an identifier
          </a>
        </p>
      </section>
      <Section title="My crates">
        {crates.nodes.length === 0 ? (
          <Empty title="You have no crate yet.">
            <p>
              <a href="/upload">Upload a folder or an archive</a>; you see what will happen before
              anything is stored.
            </p>
          </Empty>
        ) : (
          <div class="cards">
            {crates.nodes.map((record) => (
              <RecordCard record={record} />
            ))}
          </div>
        )}
        {crates.totalCount > crates.nodes.length && (
          <p>
            <a href={`/search?owner=${encodeURIComponent(viewer!.id)}&kind=RO_CRATE`}>
              All {countText(crates.totalCount)} crates
            </a>
          </p>
        )}
      </Section>
      {submissions.nodes.length > 0 && (
        <Section title="Newest uploads">
          <Submissions rows={submissions.nodes} />
        </Section>
      )}
      {groups.length > 0 && (
        <Section title="My groups and projects">
          <ul>
            {groups.map((group) => (
              <li>
                <RecordLink record={group} glyph />
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>,
  );
}

export const overviewRoute: Route = { path: "/my", get: own(overview) };
