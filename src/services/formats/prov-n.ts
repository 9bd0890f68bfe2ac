import { KIND_NAMES } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { PREFIXES } from "../../model/field.js";
import { PROVENANCE, type ProvenanceName } from "../../model/provenance.js";
import { oneLine } from "../../model/texts.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { linksFrom, linksTo, liveRecords } from "../records/links.js";
import type { RecordFormat } from "./format.js";

/** Statements of one record, in each direction; the evidence graph has longer chains. */
const MAX_LINKS = 1000;
const AGENTS = new Set(["user", "group", "organization", "project"]);
const BY_CURIE = new Map(
  (Object.keys(PROVENANCE) as ProvenanceName[]).map((name) => [PROVENANCE[name].evi, name]),
);

/** An expression of PROV-N for a statement; `undefined` where PROV has none. */
function expression(name: ProvenanceName, source: string, target: string): string | undefined {
  const term = PROVENANCE[name];
  switch ("prov" in term ? term.prov : undefined) {
    case "prov:used":
      return `used(${source}, ${target}, -)`;
    case "prov:wasGeneratedBy":
      return `wasGeneratedBy(${source}, ${target}, -)`;
    case "prov:generated":
      return `wasGeneratedBy(${target}, ${source}, -)`;
    case "prov:wasDerivedFrom":
      return `wasDerivedFrom(${source}, ${target})`;
    case "prov:wasAssociatedWith":
      return `wasAssociatedWith(${source}, ${target}, -)`;
    case "prov:wasAttributedTo":
      return `wasAttributedTo(${source}, ${target})`;
    case "prov:wasInformedBy":
      return `wasInformedBy(${source}, ${target})`;
    default:
      if (name.endsWith("UsedBy") || name === "usedBy") return `used(${target}, ${source}, -)`;
      return name === "derivedTo" ? `wasDerivedFrom(${target}, ${source})` : undefined;
  }
}

/** A qualified name: the local part of the NAAN's namespace, escaped (PROV-N, section 3.7.1). */
const qualified = (ark: string): string =>
  `ark:${encodeURI(ark.slice("ark:".length)).replace(/[='(),:;[\]"]/g, (character) => `\\${character}`)}`;
const quoted = (text: string): string => `"${oneLine(text.replace(/[\\"]/g, "\\$&"))}"`;

/** The provenance that a record states, and that others state of it, as PROV-N. */
async function provN(deps: Pick<Deps, "records">, record: StoredRecord): Promise<string> {
  const predicates = [...BY_CURIE.keys()];
  const [[from], [to]] = await Promise.all([
    linksFrom(deps, [record.ark], { predicates, limit: MAX_LINKS }),
    linksTo(deps, [record.key], { predicates, limit: MAX_LINKS }),
  ]);
  const links = [
    ...(from?.items ?? []).map(({ predicate, target }) => [predicate, record.ark, target] as const),
    ...(to?.items ?? []).map(({ predicate, source }) => [predicate, source, record.ark] as const),
  ];
  const arks = [
    ...new Set([record.ark, ...links.flatMap(([, source, target]) => [source, target])]),
  ];
  const records = await liveRecords(deps, arks);
  const lines = arks.map((ark, index) => {
    const known = ark === record.ark ? record : records[index];
    const what =
      known && AGENTS.has(known.kind)
        ? "agent"
        : known && KINDS[known.kind].activity
          ? "activity"
          : "entity";
    const attributes = [
      ...(known?.name ? [`prov:label=${quoted(known.name)}`] : []),
      ...(known ? [`prov:type='${KINDS[known.kind].rdfClass}'`] : []),
    ];
    const times = what === "activity" ? ", -, -" : "";
    return `${what}(${qualified(ark)}${times}${attributes.length === 0 ? "" : `, [${attributes.join(", ")}]`})`;
  });
  const statements = links.flatMap(([predicate, source, target]) => {
    const name = BY_CURIE.get(predicate);
    return (name && expression(name, qualified(source), qualified(target))) ?? [];
  });
  return [
    "document",
    "prefix ark <ark:>",
    `prefix evi <${PREFIXES.evi}>`,
    `prefix schema <${PREFIXES.schema}>`,
    ...lines,
    ...new Set(statements),
    "endDocument",
    "",
  ].join("\n");
}

export const provn: RecordFormat = {
  name: "provn",
  mediaType: "text/provenance-notation",
  label: "PROV-N",
  description: "The provenance that the record states and that others state of it, as PROV-N.",
  kinds: KIND_NAMES.filter((kind) => !AGENTS.has(kind)),
  relation: "describedby",
  isDerived: true,
  example: "document\nprefix ark <ark:>\nentity(ark:99999/dataset-cells)\nendDocument\n",
  write: ({ deps, view }) => provN(deps, view.record),
};
