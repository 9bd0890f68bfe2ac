/** Parts of which pages are made. The upload script shows them in the browser too. */
import type { ComponentChildren, JSX } from "preact";
import { withQuery } from "./paths.js";
import { dateText, shortened, sizeText, timeText } from "./words.js";

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
  maxLength?: number;
  /** The first day that a date may be. */
  min?: string;
  /** Where its name occurs more than once on a page. */
  id?: string;
  /**
   * Scripts suggest records by name; the value is an identifier. Of a kind: only such records, and
   * the value is the name with the identifier behind it.
   */
  picker?: boolean | "USER";
  /** Lines of a text area. */
  lines?: number;
  /** Values that are offered, while any other may be typed. */
  suggestions?: readonly (readonly [value: string, label: string])[] | undefined;
  options?: readonly (readonly [value: string, label: string])[];
}

/** A field of a form with its label, help and error. */
export function Field(props: FieldProps) {
  const { label, name, value, type = "text", required, help, error, autocomplete } = props;
  const id = props.id ?? `field-${name}`;
  const notes = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(" ");
  const shared = {
    id,
    name,
    required,
    "aria-describedby": notes === "" ? undefined : notes,
    "data-picker": props.picker ? (props.picker === true ? "" : props.picker) : undefined,
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
          maxLength={props.maxLength}
          min={props.min}
          max={type === "date" ? "9999-12-31" : undefined}
          list={props.suggestions && `${id}-list`}
        />
      )}
      {props.suggestions && (
        <datalist id={`${id}-list`}>
          {props.suggestions.map(([option, text]) => (
            <option value={option}>{text}</option>
          ))}
        </datalist>
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

type FormProps = JSX.IntrinsicElements["form"] & {
  /** Token of the session; null without one. */
  csrf: string | null;
};

/** A form that changes something: it is sent with a field that proves that one of our pages sent it. */
export function Form({ csrf, children, ...attributes }: FormProps) {
  return (
    <form method="post" {...attributes}>
      <input type="hidden" name="csrf" value={csrf ?? ""} />
      {children}
    </form>
  );
}

type Column<Row> = readonly [title: string, cell: (row: Row) => ComponentChildren];

/** A table whose rows are cards on phones; the first cell is the heading, actions need no name. */
export function EntryTable<Row>(props: { rows: readonly Row[]; columns: readonly Column<Row>[] }) {
  const { rows, columns } = props;
  return (
    <div class="scroll">
      <table class="stack entries">
        <thead>
          <tr>
            {columns.map(([title]) => (
              <th scope="col">{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map(([title, cell], index) =>
                index === 0 ? (
                  <td class="entry">{cell(row)}</td>
                ) : (
                  <td data-label={title.startsWith("Action") ? undefined : title}>{cell(row)}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Links to the parts of a long page, and to pages that belong to it. */
export function PageParts({
  parts,
}: {
  parts: readonly (readonly [href: string, text: string])[];
}) {
  return (
    <nav aria-label="Parts of this page">
      <ul class="tabs parts">
        {parts.map(([href, text]) => (
          <li>
            <a href={href}>{text}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

type SectionProps = Omit<JSX.IntrinsicElements["section"], "title"> & {
  title: ComponentChildren;
  /** Said quietly behind the title, mostly a number. */
  count?: ComponentChildren;
};

/** A part of a page below a heading. */
export function Section({ title, count, children, ...attributes }: SectionProps) {
  return (
    <section {...attributes}>
      <h2>
        {title}
        {count !== undefined && (
          <>
            {" "}
            <span class="count">{count}</span>
          </>
        )}
      </h2>
      {children}
    </section>
  );
}
