import { arkKey } from "../../../src/identifiers/ark.js";
import type { KindName, Link } from "../../../src/model/kind.js";
import type {
  Commit,
  RecordState,
  RecordStore,
  RecordWrite,
} from "../../../src/storage/records/port.js";

export const OWNER = "ark:99999/user-ann";
const T0 = Date.UTC(2026, 0, 1);
const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
export const decode = (bytes: Uint8Array | undefined): Record<string, unknown> =>
  JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;

export const linkTo = (target: string, predicate = "evi:usedDataset"): Link => ({
  predicate,
  target,
  targetKey: arkKey(target),
});

/** Canonical quads as the model would print them: a name, and one statement a link. */
export function quadsOf(ark: string, name: string, links: readonly Link[]): string {
  const lines = [
    `<${ark}> <https://schema.org/name> ${JSON.stringify(name)} <${ark}> .`,
    ...links.map(
      ({ predicate, target }) =>
        `<${ark}> <https://w3id.org/EVI#${predicate.split(":")[1]}> <${target}> <${ark}> .`,
    ),
  ];
  return [...new Set(lines)].toSorted().join("\n") + "\n";
}

export interface Sketch {
  kind?: KindName;
  name?: string;
  owner?: string | null;
  links?: Link[];
  keywords?: string[];
  licence?: string | null;
  /** ms of the day on which it states that it was published. */
  statedAt?: number | null;
  extra?: Record<string, unknown>;
}

export function stateOf(
  ark: string,
  {
    kind = "dataset",
    name = "A table",
    owner = OWNER,
    links = [],
    keywords = [],
    licence = null,
    statedAt = null,
    extra = {},
  }: Sketch,
): RecordState {
  return {
    kind,
    name,
    owner,
    links,
    keywords,
    licence,
    statedAt,
    document: encode({
      "@id": ark,
      name,
      ...(licence === null ? {} : { license: licence }),
      ...(statedAt === null ? {} : { datePublished: new Date(statedAt).toISOString() }),
      ...extra,
    }),
    quads: quadsOf(ark, name, links),
    text: { name, description: "", keywords: keywords.join(" "), other: "" },
  };
}

export const create = (
  ark: string,
  sketch: Sketch = {},
  more: Partial<Extract<RecordWrite, { op: "create" }>> = {},
): RecordWrite => ({ op: "create", ark, key: arkKey(ark), ...stateOf(ark, sketch), ...more });
export const replace = (
  ark: string,
  ifRevision: number,
  sketch: Sketch = {},
  more: Partial<Extract<RecordWrite, { op: "replace" }>> = {},
): RecordWrite => ({
  op: "replace",
  ark,
  ifRevision,
  changed: ["/name"],
  ...stateOf(ark, sketch),
  ...more,
});
export const remove = (
  ark: string,
  ifRevision: number,
  more: Partial<Extract<RecordWrite, { op: "delete" }>> = {},
): RecordWrite => ({ op: "delete", ark, ifRevision, ...more });

let clock = T0;
export const commitOf = (records: RecordWrite[], more: Partial<Commit> = {}): Commit => ({
  by: OWNER,
  at: (clock += 1000),
  records,
  ...more,
});
export const write = (
  store: RecordStore,
  ...records: RecordWrite[]
): ReturnType<RecordStore["commit"]> => store.commit(commitOf(records));

/** A store under test. */
export interface Opened {
  store: RecordStore;
  /** Closes it and opens the same data again. */
  reopen(): Promise<RecordStore>;
  /** Closes it and removes its data. */
  destroy(): Promise<void>;
}
/** Shared by the parts of the suite; `store()` is a fresh one in each test. */
export interface Setting {
  store(): RecordStore;
  reopen(): Promise<RecordStore>;
}
