import type { Readable } from "node:stream";
import type { KindName } from "../../model/kind.js";
import type { Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import type { Landmarks } from "../records/list.js";
import type { RecordView } from "../records/view.js";

/** Where a record is answered, and how. */
export interface Place {
  /** The registry's address. */
  base: string;
  /** The requested address, where it is an alias of the record's own. */
  asked?: string | undefined;
  /** The formats of the record: {@link import("./table.js").formatsOf}. */
  formats: readonly RecordFormat[];
}

/** What a document of a record is written from. */
export interface FormatSource {
  readonly deps: Deps;
  readonly view: RecordView;
  readonly place: Place;
  /** Metadata is the same for every caller; archives hold the content that the caller may read. */
  readonly caller: Caller | null;
  /** Only this folder of a crate. */
  readonly folder?: string | undefined;
}

/** A document that is produced while it is sent. */
export interface WrittenStream {
  /** Differs whenever the document would differ. */
  readonly state: string;
  readonly headers?: Readonly<Record<string, string>>;
  open(): Promise<Readable>;
}
export type Written = string | Uint8Array | WrittenStream;

/**
 * A form of a record, declared once: `?format=`, content negotiation, links, OpenAPI, GraphQL, the
 * record's page and docs/formats.md are derived from it. {@link import("./table.js").FORMATS} lists
 * all.
 */
export interface RecordFormat {
  /** Value of `?format=`; GraphQL has it in capitals. */
  readonly name: string;
  readonly mediaType: string;
  /** URI that tells formats of one media type apart (RFC 6906): a parameter of the media type. */
  readonly profile?: string;
  /** What people call it. */
  readonly label: string;
  /** One sentence: what it is for. */
  readonly description: string;
  /** Kinds of records that have it; all when absent. */
  readonly kinds?: readonly KindName[];
  /** How the record links to it; a format without a relation is not linked to. */
  readonly relation?: "describedby" | "item";
  /** Where it is answered besides `?format=`: what follows the record's address. */
  readonly path?: string;
  /** The link is in the `Link` header too, not in the link set alone. */
  readonly isSignpost?: true;
  /** Whether the record states what the format requires, so that a link is not refused. */
  isLinked?(landmarks: Landmarks): boolean;
  /** Bytes that are no text: GraphQL does not have it. */
  readonly isBinary?: true;
  /** It may be one folder of a crate: {@link FormatSource.folder}. */
  readonly hasFolders?: true;
  /** It says something about a crate as a whole, so there is none of an earlier revision. */
  readonly isWholeCrate?: true;
  /**
   * The document depends on other records too: its ETag is a hash, or the state of
   * {@link WrittenStream}.
   */
  readonly isDerived?: true;
  /** Suffix of the record's ETag, where it is not the name. */
  readonly tag?: string;
  /** A short document, for the OpenAPI document; absent where the record itself is one. */
  readonly example?: string;
  /**
   * Absent for the record's page, which `src/web` makes.
   * @throws ValidationError naming the fields that the record lacks for the format
   */
  write?(source: FormatSource): Written | Promise<Written>;
}

/** The media type as headers write it, with its profile; archives have no such parameter. */
export const fullType = ({
  mediaType,
  profile,
  isBinary,
}: Pick<RecordFormat, "mediaType" | "profile" | "isBinary">): string =>
  profile === undefined || isBinary ? mediaType : `${mediaType}; profile="${profile}"`;

/** Whether a document is produced while it is sent. */
export const isStream = (written: Written): written is WrittenStream =>
  typeof written !== "string" && !(written instanceof Uint8Array);
