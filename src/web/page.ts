import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { ComponentChildren } from "preact";
import type { Ark } from "../identifiers/ark.js";
import type { JsonObject } from "../model/field.js";
import type { Review } from "../services/access/review.js";
import type { Caller } from "../services/access/rules.js";
import type { drawEvidence, DrawnEvidence } from "../services/evidence/picture/drawing.js";
import type { LinkedIssuer } from "../services/administration/sign-in.js";
import type { EvidenceRequest } from "../services/evidence/types.js";
import type { NoPreview } from "../services/previews/types.js";
import type { TableQuestion, TableView } from "../services/previews/table-view.js";
import type { GraphNames } from "../services/sparql/answer.js";
import type { TypedDocumentString } from "./document.js";

/** The signed-in user, as the frame shows them. */
export interface Viewer {
  id: string;
  name: string | null;
  admin: boolean;
}

/** Whether an upload is an update, and of which crate. */
export interface CrateUpload {
  update: boolean;
  crate?: string;
  /** The update may remove all statements of a linked crate. */
  emptyLinked?: boolean;
}

/** A query for the SPARQL interface. */
export interface SparqlQuery {
  query: string;
  dataset: GraphNames;
  /** The form of rows: JSON for a page, or CSV to download. */
  as: "page" | "csv";
  /** Rows that are used, at most; one more follows where there are more. */
  rows?: number;
}

/** An answer of the SPARQL interface. */
export interface SparqlAnswer {
  form: "SELECT" | "ASK" | "CONSTRUCT" | "DESCRIBE";
  /** Results as JSON or CSV, a graph as Turtle. */
  text: string;
  /** The limit that cut it, if one did. */
  truncated: string | null;
}

/** An operation of the REST API, as the contract lists it. */
export interface Operation {
  method: string;
  path: string;
  tag: string;
  summary: string;
}

/** A request for a page, on its way to the page's function. */
export interface PageRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Decoded, without a slash at the end. */
  readonly path: string;
  /** What a parameter of the route's path matched. @throws Error where the path has none of the name */
  param(name: string): string;
  readonly query: URLSearchParams;
  /** The fields of the form that was sent; empty for GET. */
  readonly form: URLSearchParams;
  readonly caller: Caller | null;
  readonly viewer: Viewer | null;
  /** Goes into each form as the field `csrf`; null without a session. */
  readonly csrf: string | null;
  /** Sign-in at issuers of OpenID Connect. */
  readonly issuers: IssuerSignIn;
  /** Whether people may sign in with a password (PASSWORD_SIGN_IN). */
  readonly hasPasswords: boolean;
  /** Fewest characters of a new password (PASSWORD_MIN_LENGTH). */
  readonly passwordLength: number;
  /** Whether uploads are private where the reader does not say otherwise. */
  readonly privateUploads: boolean;
  /** Public address of the registry, without a slash at the end. */
  readonly base: string;
  /**
   * Executes a document in this process, with the rights of the caller: the schema, the resolvers
   * and the errors are those that any client gets.
   * @throws ServiceError of the first field that failed
   */
  ask<Result, Variables extends object>(
    document: TypedDocumentString<Result, Variables>,
    variables: Variables,
  ): Promise<Result>;
  /**
   * Begins a session: the answer sets the cookie.
   * @throws ServiceError `BAD_CREDENTIALS`, `TOO_MANY_REQUESTS`
   */
  signIn(credentials: { username: string; password: string }): Promise<void>;
  /**
   * Stores the archive of the multipart form that was sent, and queues its intake. The form holds
   * the CSRF token before its file.
   * @returns the name of the submission
   * @throws ServiceError, ValidationError as the upload over REST
   */
  uploadCrate(options: CrateUpload): Promise<string>;
  /**
   * Answers a query as the SPARQL interface does, with its limits.
   * @throws ServiceError
   */
  sparql(query: SparqlQuery): Promise<SparqlAnswer>;
  /**
   * Draws the evidence of a record for a page.
   * @throws ServiceError, ValidationError as the REST API
   */
  drawEvidence(
    request: Omit<EvidenceRequest, "limit">,
    look: Omit<Parameters<typeof drawEvidence>[2], "form" | "base">,
  ): ReturnType<typeof drawEvidence>;
  /** Draws what is next to a record. */
  drawNearby(ark: Ark, link: string): Promise<DrawnEvidence>;
  /** Bytes of the metadata document of a crate, which is written to count them. */
  metadataSize(ark: Ark): Promise<number>;
  /**
   * The table in a stored file, as its reader asks for it, or why it cannot be read as a whole;
   * undefined for what is no table.
   * @throws ServiceError for what the reader may not read
   */
  readTable(ark: Ark, question: TableQuestion): Promise<TableView | NoPreview | undefined>;
  /** The operations of the REST API. */
  readonly operations: readonly Operation[];
  /** Ends the session. */
  signOut(): Promise<void>;
  /**
   * Has the browser read by a reviewer's link: the answer sets a cookie.
   * @returns the ARK of the record
   * @throws ServiceError `NOT_FOUND`, `TOO_MANY_REQUESTS`
   */
  openReview(secret: string): Promise<string>;
  /** The browser forgets the link. */
  endReview(): void;
  /** The link by which the page is read. */
  readonly review: Review | undefined;
}

/** How pages sign their readers in at issuers. The redirects set cookies. */
export interface IssuerSignIn {
  readonly all: readonly { readonly name: string; readonly label: string }[];
  /** @throws ServiceError */
  begin(name: string, to: string): Promise<Redirect>;
  /** Begins the linking of the reader's account. @throws ServiceError */
  beginLink(name: string): Promise<Redirect>;
  /** The browser is back. Without an account, the form of a new one follows. @throws ServiceError */
  finish(
    name: string,
  ): Promise<Redirect | { pending: string; name: string | null; email: string | null; to: string }>;
  /** @throws ValidationError, ServiceError */
  signUp(
    pending: string,
    fields: { name: string; email: string; adminToken: string },
  ): Promise<void>;
  linked(): Promise<LinkedIssuer[]>;
  /** @throws ServiceError */
  unlink(name: string): Promise<void>;
  /** Lets a program that shows this code act for the reader. @throws ValidationError */
  approveDevice(code: string): Promise<void>;
}

/** A page to send. */
export interface Page {
  status?: number;
  title: string;
  /** For search engines and link previews; plain text. */
  description?: string | null;
  /** What the page is about, as JSON-LD: a data block in the head, never run. */
  data?: JsonObject;
  /** Path of a picture of 1200 × 630 pixels, which links to the page show elsewhere. */
  image?: string;
  /** Links in the head. */
  links?: readonly { rel: string; href: string; type?: string; profile?: string; as?: string }[];
  body: ComponentChildren;
  /** Names of scripts in `client`, without extension; `base` is on every page. */
  scripts?: readonly string[];
  /** Style sheets of other packages, as `assetUrl` names them. */
  styles?: readonly string[];
  /** Where the navigation is. */
  section?: "search" | "browse" | "upload" | "my" | "explorers" | "help" | "admin";
  /** The body has a search box, so that the frame needs none. */
  hasSearch?: true;
  /** `wide` gives the body the whole width of the window. */
  layout?: "text" | "wide";
  headers?: OutgoingHttpHeaders;
  /** Replaces the content security policy of pages. */
  policy?: string;
}

/** Sends the browser elsewhere: 303 after a form, else 302. */
export interface Redirect {
  redirect: string;
  headers?: Readonly<Record<string, string>>;
}

/** Where a page is and what makes it. */
export interface Route {
  /**
   * A path of Express's router, for example `/browse/:kind`; `*ark` is an identifier up to the end.
   */
  path: string;
  get?(request: PageRequest): Promise<Page | Redirect>;
  /**
   * The form has a file. Its fields are read with the file, by `uploadCrate`, which checks the CSRF
   * token: nothing else may be changed for the caller.
   */
  takesFile?: true;
  /** For forms; the CSRF token was checked. */
  post?(request: PageRequest): Promise<Page | Redirect>;
}
