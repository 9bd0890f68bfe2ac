/** A table in the page of its preview: sorted, searched and paged by links and one form. */
import type {
  ColumnChart,
  TableQuestion,
  TableView,
  ViewedColumn,
} from "../../../services/previews/table-view.js";
import { VIEW_ROWS } from "../../../services/previews/table-view.js";
import { recordPath, withQuery } from "../../paths.js";
import { counted, countText, shortened } from "../../words.js";
import { errorsAt, sentenceOf } from "./table-errors.js";

const numberIn = (query: URLSearchParams, name: string, least: number): number | undefined => {
  const text = query.get(name) ?? "";
  return /^\d{1,9}$/.test(text) && Number(text) >= least ? Number(text) : undefined;
};

/** People count rows and columns from 1. */
export function questionOf(query: URLSearchParams): TableQuestion {
  const [sort, column, row, from] = ["sort", "column", "row", "from"].map((name) =>
    numberIn(query, name, 1),
  );
  const find = (query.get("find") ?? "").trim().slice(0, 200);
  return {
    ...(sort !== undefined && { sort: sort - 1 }),
    ...(query.get("order") === "desc" && { descending: true }),
    ...(find !== "" && { find }),
    ...(column !== undefined && { column: column - 1 }),
    ...(query.has("wrong") && { wrong: true }),
    ...(row !== undefined && { row: row - 1 }),
    ...(from !== undefined && { from: from - 1 }),
  };
}

interface TableProps {
  id: string;
  /** Goes along with every link of the page. */
  crate: string;
  view: TableView;
  question: TableQuestion;
}

export function TableOfFile(props: TableProps) {
  const { view } = props;
  const { total, moreRows, columns, moreColumns, problem } = view;
  return (
    <>
      <p>
        <strong>
          {moreRows && "The first "}
          {counted(total, "row")}
        </strong>
        , {moreColumns && "the first "}
        {counted(columns.length, "column")}.{" "}
        {(moreRows || moreColumns) && "Download the file to see all of it."}
      </p>
      {problem !== null && <p class="quiet">{shortened(problem, 300)}</p>}
      <Find {...props} />
      <Errors {...props} />
      <Rows {...props} />
      <Pages {...props} />
    </>
  );
}

type Change = { [Name in keyof TableQuestion]?: TableQuestion[Name] | undefined };

/** The address of the same table with something changed; a change begins at the first row. */
function addressOf({ id, crate, question }: TableProps, change: Change): string {
  const { sort, descending, find, column, wrong, row, from } = {
    ...question,
    row: undefined,
    from: undefined,
    ...change,
  };
  const written = (index: number | undefined): number | null =>
    index === undefined ? null : index + 1;
  return withQuery(recordPath(id, "preview"), {
    crate,
    find,
    column: written(column),
    sort: written(sort),
    order: descending ? "desc" : null,
    wrong: wrong ? "1" : null,
    row: written(row),
    from: written(from),
  });
}

function Find(props: TableProps) {
  const { id, crate, view, question } = props;
  const hidden = {
    crate,
    sort: question.sort === undefined ? "" : String(question.sort + 1),
    order: question.descending ? "desc" : "",
  };
  const isFiltered = question.find !== undefined || question.wrong === true;
  return (
    <form class="row" action={recordPath(id, "preview")} role="search" aria-label="Rows">
      {Object.entries(hidden).map(
        ([name, value]) => value !== "" && <input type="hidden" name={name} value={value} />,
      )}
      <label>
        Rows with{" "}
        <input name="find" value={question.find} placeholder="words, or >5" maxLength={200} />
      </label>
      <label>
        in{" "}
        <select name="column">
          <option value="">any column</option>
          {view.columns.map(({ name }, column) => (
            <option value={column + 1} selected={column === question.column}>
              {shortened(name || `Column ${column + 1}`, 60)}
            </option>
          ))}
        </select>
      </label>
      <button class="secondary">Show</button>
      {isFiltered && (
        <>
          <span>{counted(view.chosen, "row")} found.</span>
          <a href={addressOf(props, { find: undefined, column: undefined, wrong: undefined })}>
            All rows
          </a>
        </>
      )}
    </form>
  );
}

function Errors(props: TableProps) {
  const { schema, errorCount, problem } = props.view;
  if (schema === null && errorCount === 0) return null;
  if (errorCount === 0)
    return problem === null ? (
      <p class="quiet small">
        No error in these rows. Checked by <a href={recordPath(schema!)}>its schema</a>.
      </p>
    ) : null;
  return (
    <p class="wrong">
      {errorCount >= 1000 && "At least "}
      {counted(errorCount, "error")}
      {schema !== null && (
        <>
          {" by "}
          <a href={recordPath(schema)}>its schema</a>
        </>
      )}
      , each at its cell.{" "}
      {!props.question.wrong && (
        <a href={addressOf(props, { wrong: true })}>Only rows with errors</a>
      )}
    </p>
  );
}

function Rows(props: TableProps) {
  const { view, question } = props;
  const messages = errorsAt(view.errors, view.columns.length);
  if (view.rows.length === 0) return <p class="quiet">No row has that.</p>;
  return (
    <div class="scroll preview-table" tabIndex={0} role="region" aria-label="Rows of the table">
      <table class="data">
        <thead>
          <tr>
            <th scope="col">
              <a href={addressOf(props, { sort: undefined, descending: false })}>Row</a>
            </th>
            {view.columns.map((column, index) => (
              <Head {...{ props, column, index }} />
            ))}
          </tr>
        </thead>
        <tbody>
          {view.rows.map(({ number, cells }) => {
            const ofRow = messages(number, "row");
            return (
              <tr id={`row-${number + 1}`} class={number === question.row ? "asked" : undefined}>
                <th scope="row" class={ofRow && "wrong"}>
                  <a href={`${rowAddress(props, number)}#row-${number + 1}`}>{number + 1}</a>
                  {ofRow?.map((message) => (
                    <small>{sentenceOf(message)}</small>
                  ))}
                </th>
                {cells.map((cell, column) => {
                  const ofCell = messages(number, column);
                  return (
                    <td class={ofCell && "wrong"} dir="auto">
                      {shortened(cell, 300)}
                      {ofCell?.map((message) => (
                        <small>{sentenceOf(message)}</small>
                      ))}
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** A link to a row is the same, however the table was sorted and searched. */
const rowAddress = ({ id, crate }: TableProps, row: number): string =>
  withQuery(recordPath(id, "preview"), { crate, row: row + 1 });

const TYPES: Readonly<Record<ViewedColumn["type"], string>> = {
  integer: "whole number",
  number: "number",
  boolean: "yes or no",
  string: "text",
};

function Head({
  props,
  column,
  index,
}: {
  props: TableProps;
  column: ViewedColumn;
  index: number;
}) {
  const { question } = props;
  const isSorted = question.sort === index;
  const descending = isSorted && question.descending !== true;
  const order = question.descending ? "descending" : "ascending";
  const { distinct } = column.chart;
  const facts = [
    TYPES[column.type],
    ...(distinct === null ? [] : [`${countText(distinct)} different`]),
    ...(column.gaps > 0 ? [`${countText(column.gaps)} empty`] : []),
  ];
  return (
    <th scope="col" aria-sort={isSorted ? order : undefined}>
      <a href={addressOf(props, { sort: index, descending })}>
        <bdi>{shortened(column.name || `Column ${index + 1}`, 80)}</bdi>
        {isSorted && <span aria-hidden="true"> {question.descending ? "▼" : "▲"}</span>}
      </a>
      <Chart chart={column.chart} />
      <span class="quiet small">{facts.join(", ")}</span>
    </th>
  );
}

const [BAR, GAP, HEIGHT] = [9, 1, 28];

function Chart({ chart: { bars } }: { chart: ColumnChart }) {
  const most = bars.reduce((highest, { count }) => Math.max(highest, count), 0);
  if (most === 0) return <span class="chart" />;
  const width = bars.length * (BAR + GAP);
  const text = bars.map(({ label, count }) => `${label}: ${countText(count)}`).join("; ");
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${width} ${HEIGHT}`}
      width={width}
      height={HEIGHT}
      role="img"
      aria-label={shortened(text, 400)}
    >
      {bars.map(({ label, count }, bar) => {
        const height = count === 0 ? 0 : Math.max(1, (count / most) * HEIGHT);
        return (
          <rect x={bar * (BAR + GAP)} y={HEIGHT - height} width={BAR} height={height}>
            <title>{`${label}: ${counted(count, "row")}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

function Pages(props: TableProps) {
  const { chosen, from, rows } = props.view;
  if (chosen <= VIEW_ROWS && from === 0) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {from > 0 && (
        <a rel="prev" href={addressOf(props, { from: Math.max(0, from - VIEW_ROWS) })}>
          ← Previous
        </a>
      )}
      <span class="quiet">
        {countText(from + 1)} to {countText(from + rows.length)} of {countText(chosen)}
      </span>
      {from + rows.length < chosen && (
        <a rel="next" href={addressOf(props, { from: from + VIEW_ROWS })}>
          Next →
        </a>
      )}
    </nav>
  );
}
