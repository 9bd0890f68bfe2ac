import type { ComponentChildren } from "preact";
import { nameText } from "../model/labels.js";
import { plainText } from "../model/texts.js";
import {
  kindOf,
  kindText,
  licenceText,
  shortened,
  sizeText,
  timeText,
  dateText,
} from "./format.js";
import { recordPath, withQuery } from "./page.js";

/** What is known of a record that a page names. */
export interface Named {
  id: string;
  name?: string | null;
  kind?: string | null;
}

/** A link to a record, by its name where one is known. */
export function RecordLink({ record, glyph = false }: { record: Named; glyph?: boolean }) {
  return (
    <a href={recordPath(record.id)} title={record.name ? undefined : record.id}>
      {glyph && <KindGlyph kind={record.kind ?? null} />}
      <bdi>{shortened(nameText(record), record.name ? 200 : 80)}</bdi>
    </a>
  );
}

/** Shapes of the kinds, the same as in the pictures of evidence; 16 by 16. */
const SHAPES: Readonly<Record<string, string>> = {
  dataset: "M3 3h10a2 2 0 0 1 2 2v6a2 2 0 0 1-2 2H3a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z",
  datadownload: "M3 1h7l4 4v10H3zM10 1v4h4",
  computation: "M8 3.5c3.9 0 7 2 7 4.5s-3.1 4.5-7 4.5S1 10.500 1 8s3.100-4.500 7-4.500z",
  experiment: "M6 1h4M7 1v5L2 15h12L9 6V1",
  software: "M4.500 2h7L15 8l-3.500 6h-7L1 8z",
  user: "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1z",
  group: "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1zM5 8h6",
  organization: "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1zM5 6h6M5 10h6",
  project: "M1 4h5l2 2h7v8H1z",
  schema: "M1 2h14v12H1zM1 6h14M1 10h14M6 2v12",
  rocrate: "M1 5l7-4 7 4v7l-7 4-7-4zM1 5l7 4 7-4M8 9v7",
  mlmodel: "M8 1l7 7-7 7-7-7zM5 8h6M8 5v6",
  sample: "M5 1h6M6 1v11a2 2 0 0 0 4 0V1M6 8h4",
  instrument: "M2 14h12M5 14V8l5-6 3 2-4 6v4",
  annotation: "M1 2h14v9H7l-4 4v-4H1z",
  evidencegraph: "M2 2h4v4H2zM10 10h4v4h-4zM6 4h6v6",
  entity: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM8 6v4",
};

/** Shape and colour of a kind; the name stands beside it or is read aloud. */
export function KindGlyph({ kind }: { kind: string | null }) {
  const name = kind === null ? "entity" : kindOf(kind);
  return (
    <svg class={`glyph k-${name}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={SHAPES[name] ?? SHAPES["entity"]!} />
    </svg>
  );
}

/** Kind of a record, by shape, colour and word. */
export function KindLabel({ kind }: { kind: string | null }) {
  return (
    <span class="kind">
      <KindGlyph kind={kind} />
      {kindText(kind)}
    </span>
  );
}

interface BadgeProps {
  status: string | null;
  embargoEndsAt?: string | null | undefined;
  deleted?: boolean;
}

/** Who may read the content, in one or two words. */
export function StatusBadge({ status, embargoEndsAt, deleted = false }: BadgeProps) {
  const [tone, text] = deleted
    ? ["withdrawn", "Withdrawn"]
    : status === "PUBLISHED"
      ? ["public", "Public"]
      : status === "EMBARGOED"
        ? ["embargoed", embargoEndsAt ? `Embargoed until ${dateText(embargoEndsAt)}` : "Embargoed"]
        : status === "ARCHIVED"
          ? ["archived", "Archived"]
          : status === "DRAFT"
            ? ["draft", "Draft"]
            : ["draft", "Restricted"];
  return <span class={`badge ${tone}`}>{text}</span>;
}

/** A date, with the exact time on request. */
export function When({ at, minute = false }: { at: string | null; minute?: boolean }) {
  if (at === null) return null;
  return (
    <time dateTime={at} title={timeText(at)}>
      {minute ? timeText(at) : dateText(at)}
    </time>
  );
}

export function Size({ bytes }: { bytes: number }) {
  return <span title={`${bytes.toLocaleString("en-US")} bytes`}>{sizeText(bytes)}</span>;
}

/** True for addresses that a browser may open: nothing that runs. */
export const isWebAddress = (address: string): boolean => /^https?:\/\/[^\s]+$/i.test(address);

/** A link to another site, or plain text where the address is none. */
export function Outside({ href, children }: { href: string; children?: ComponentChildren }) {
  if (!isWebAddress(href)) return <bdi>{children ?? shortened(href, 300)}</bdi>;
  return (
    <a href={href} rel="nofollow noopener">
      <bdi>{children ?? shortened(href, 300)}</bdi>
    </a>
  );
}

export function Licence({ licence }: { licence: string }) {
  return <Outside href={licence.trim()}>{shortened(licenceText(licence), 120)}</Outside>;
}

const ORCID = /^https?:\/\/orcid\.org\/(\d{4}-\d{4}-\d{4}-\d{3}[\dX])$/;

/** A person or organization by name; an ORCID stands behind the name. */
export function Agent({ agent }: { agent: { id: string | null; name: string | null } }) {
  const { id, name } = agent;
  if (id === null) return <bdi>{name}</bdi>;
  const orcid = ORCID.exec(id)?.[1];
  if (orcid !== undefined)
    return (
      <span class="agent">
        {name && <bdi>{name}</bdi>}{" "}
        <a class="orcid" href={id} rel="nofollow noopener" title={`ORCID ${orcid}`}>
          {name ? "ORCID" : `ORCID ${orcid}`}
        </a>
      </span>
    );
  if (id.startsWith("ark:")) return <RecordLink record={{ id, name }} />;
  return <Outside href={id}>{name ?? id}</Outside>;
}

export function Keywords({ words }: { words: readonly string[] }) {
  if (words.length === 0) return null;
  return (
    <ul class="keywords">
      {words.slice(0, 40).map((word) => (
        <li>
          <a href={withQuery("/search", { keyword: word })}>
            <bdi>{shortened(word, 60)}</bdi>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** An identifier, small, with a button that copies it. */
export function Identifier({ id }: { id: string }) {
  return (
    <span class="identifier">
      <code>{id}</code> <CopyButton text={id} label="Copy the identifier" />
    </span>
  );
}

/** Copies a text; shown only where scripts run. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  return (
    <button type="button" class="copy" data-copy={text} title={label} aria-label={label} hidden>
      Copy
    </button>
  );
}

/** Names and values; rows without a value are left out. */
export function Facts({ rows }: { rows: readonly (readonly [string, ComponentChildren])[] }) {
  const known = rows.filter(
    ([, value]) => value !== null && value !== undefined && value !== false && value !== "",
  );
  if (known.length === 0) return null;
  return (
    <dl class="facts">
      {known.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export interface Card extends Named {
  description: string | null;
  keywords: readonly string[];
  license: string | null;
  modifiedAt: string | null;
  publicationStatus: string | null;
  embargoEndsAt: string | null;
  owner: Named | null;
}

interface CardProps {
  record: Card;
  /** Level of its heading, one below that of the list. */
  level?: 2 | 3;
  /** In place of the description, for example a fragment. */
  children?: ComponentChildren;
}

/** A record in a list. */
export function RecordCard({ record, level = 3, children }: CardProps) {
  const Heading = `h${level}` as const;
  return (
    <article class="card">
      <Heading class="card-title">
        <RecordLink record={record} glyph />
      </Heading>
      <p class="meta">
        {kindText(record.kind ?? null)}
        {record.owner && (
          <>
            {" owned by "}
            <RecordLink record={record.owner} />
          </>
        )}
        {" · "}
        <When at={record.modifiedAt} />
        {record.license && (
          <>
            {" · "}
            {shortened(licenceText(record.license), 60)}
          </>
        )}{" "}
        {record.publicationStatus !== "PUBLISHED" && (
          <StatusBadge status={record.publicationStatus} embargoEndsAt={record.embargoEndsAt} />
        )}
      </p>
      {children ??
        (record.description && <p dir="auto">{shortened(plainText(record.description), 280)}</p>)}
    </article>
  );
}

interface PagerProps {
  /** Address of the list without a cursor. */
  path: string;
  query: URLSearchParams;
  pageInfo: {
    hasNextPage: boolean;
    endCursor: string | null;
    hasPreviousPage?: boolean;
    startCursor?: string | null;
  };
}

/** Links to the pages before and behind. */
export function Pager({ path, query, pageInfo }: PagerProps) {
  const at = (name: "after" | "before", cursor: string | null | undefined): string => {
    const next = new URLSearchParams(query);
    next.delete("after");
    next.delete("before");
    if (cursor) next.set(name, cursor);
    return `${path}?${next.toString()}`;
  };
  if (!pageInfo.hasNextPage && !pageInfo.hasPreviousPage) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {pageInfo.hasPreviousPage && (
        <a rel="prev" href={at("before", pageInfo.startCursor)}>
          ← Previous
        </a>
      )}
      {pageInfo.hasNextPage && (
        <a rel="next" href={at("after", pageInfo.endCursor)}>
          Next →
        </a>
      )}
    </nav>
  );
}

/** A sentence that needs attention. */
export function Notice(props: {
  tone?: "info" | "success" | "warning" | "danger";
  children: ComponentChildren;
}) {
  const { tone = "info", children } = props;
  return (
    <div class={`notice ${tone}`} role={tone === "danger" ? "alert" : "status"}>
      {children}
    </div>
  );
}

/** An empty list, with what to do about it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>
        <strong>{title}</strong>
      </p>
      {children}
    </div>
  );
}

/** Preact has a type for each kind of input. */
const inputType = (type: string) => ({ type }) as { type: "text" };

interface FieldProps {
  label: string;
  name: string;
  value?: string | undefined;
  type?: "text" | "email" | "password" | "url" | "date" | "number" | "search";
  required?: boolean;
  help?: ComponentChildren;
  error?: string | undefined;
  autocomplete?: string;
  minLength?: number;
  /** Scripts suggest records by name; the value is an identifier. */
  picker?: boolean;
  /** Lines of a text area. */
  lines?: number;
  options?: readonly (readonly [value: string, label: string])[];
}

/** A field of a form with its label, help and error. */
export function Field(props: FieldProps) {
  const { label, name, value, type = "text", required, help, error, autocomplete } = props;
  const id = `field-${name}`;
  const notes = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(" ");
  const shared = {
    id,
    name,
    required,
    "aria-describedby": notes === "" ? undefined : notes,
    "data-picker": props.picker ? "" : undefined,
    "aria-invalid": error === undefined ? undefined : ("true" as const),
  };
  return (
    <div class={error === undefined ? "field" : "field wrong"}>
      <label for={id}>
        {label} {required && <span class="required">required</span>}
      </label>
      {props.options ? (
        <select {...shared}>
          {props.options.map(([option, text]) => (
            <option value={option} selected={option === value}>
              {text}
            </option>
          ))}
        </select>
      ) : props.lines ? (
        <textarea {...shared} rows={props.lines}>
          {value}
        </textarea>
      ) : (
        <input
          {...shared}
          {...inputType(type)}
          value={value}
          autocomplete={autocomplete}
          minLength={props.minLength}
        />
      )}
      {help && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {error !== undefined && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

/** The hidden field that proves that a form came from one of our pages. */
export function Csrf({ token }: { token: string | null }) {
  return <input type="hidden" name="csrf" value={token ?? ""} />;
}
