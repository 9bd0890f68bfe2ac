/** What those who may change a record do with it, where the record is. */
import type { KindName } from "../../../model/kind.js";
import { Notice } from "../../components.js";
import { recordPath, withQuery } from "../../paths.js";
import { mayBeNewVersion } from "../edit.js";
import type { PageRequest } from "../../page.js";
import { ACTIONS } from "../my/actions.js";
import { MEMBERS_STAY_OPEN, OPENS_FOR_EVER, UndoForm, unsealedSteps } from "../my/undo.js";
import type { PageRecord } from "./provenance.js";

/** Below “⋯”, in this order; some only in some states. */
const FURTHER = ["embargo", "archive", "transfer", "doi", "withdraw"] as const;

const actionPath = (name: string, id: string): string => withQuery(`/my/records/${name}`, { id });

/** The strongest button of a draft. */
export function PublishButton({ record }: { record: PageRecord }) {
  if (record.publicationStatus === "PUBLISHED") return null;
  const strong = record.publicationStatus === "DRAFT";
  return (
    <a class={strong ? "button" : "button secondary"} href={actionPath("publish", record.id)}>
      Publish
    </a>
  );
}

/** A new version, changes, and what is done rarely. */
export function OwnerActions({ record, kind }: { record: PageRecord; kind: KindName }) {
  const { id, publicationStatus: status, doiReservation } = record;
  const version = newVersionPath(record, kind);
  const further = FURTHER.filter(
    (name) =>
      (name !== "doi" || doiReservation === "POSSIBLE") &&
      (name !== "embargo" || status !== "PUBLISHED") &&
      (name !== "archive" || status !== "ARCHIVED"),
  );
  return (
    <>
      {version !== null && (
        <a class="button secondary" href={version}>
          New version
        </a>
      )}
      <a class="button secondary" href={recordPath(id, "edit")}>
        Edit
      </a>
      <details class="menu more-actions" name="menu" data-menu>
        <summary class="button secondary" aria-label="More actions">
          ⋯
        </summary>
        <ul>
          <li>
            <a href={recordPath(id, "reviewers")}>Review links…</a>
          </li>
          {further.map((name) => (
            <li>
              <a class={ACTIONS.get(name)!.danger && "danger"} href={actionPath(name, id)}>
                {name === "doi" ? "Reserve a DOI" : ACTIONS.get(name)!.label}…
              </a>
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

/**
 * Where a new version is made: what came with a crate comes again with the next version of the
 * crate, another record is described anew.
 */
function newVersionPath({ id, crate }: PageRecord, kind: KindName): string | null {
  if (kind === "rocrate") return withQuery("/upload", { crate: id });
  if (crate) return withQuery("/upload", { crate: crate.id });
  return mayBeNewVersion(kind) ? withQuery(`/new/${kind}`, { from: id }) : null;
}

/** That an action, which began at this page, was done, with a way to take it back. */
export function DoneNotice({ id, request }: { id: string; request: PageRequest }) {
  const { query } = request;
  const name = query.get("done") ?? "";
  const done = name === "undo" ? "set back to what it was" : ACTIONS.get(name)?.done;
  if (done === undefined) return null;
  return (
    <Notice tone="success">
      <p>The record was {done}.</p>
      {name === "undo" && query.get("drafts") !== null && <p>{MEMBERS_STAY_OPEN}</p>}
      <TakeBack id={id} request={request} />
    </Notice>
  );
}

/** Undo, or why there is none. */
export function TakeBack({ id, request: { csrf, query } }: { id: string; request: PageRequest }) {
  if (query.get("opened") !== null) return <p>It was private. {OPENS_FOR_EVER}</p>;
  return <UndoForm csrf={csrf} steps={unsealedSteps(csrf, query.get("undo"))} from={id} />;
}
