/** Answers browsers: the routes of all pages, and how a page is made from one GraphQL document. */
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Request, type RequestHandler, Router } from "express";
import { render } from "preact-render-to-string";
import { type ClientAddress, clientAddress } from "../config/client.js";
import { ServiceError } from "../errors.js";
import { formFields, readBytes } from "../http/body.js";
import {
  beginSession,
  endSession,
  reviewCookie,
  reviewIn,
  startSession,
  transactionCookie,
  transactionIn,
} from "../http/browsers.js";
import { notModified } from "../http/negotiation.js";
import { PAGE_POLICY, SAFE_HEADERS, sendBytes } from "../http/reply.js";
import { authenticated, type Caller } from "../services/access/rules.js";
import { readBy, seenBy } from "../services/access/seen.js";
import { openReviewLink } from "../services/accounts/review-secrets.js";
import type { Identity } from "../services/accounts/tokens.js";
import { approveDevice } from "../services/accounts/device.js";
import {
  beginSignIn,
  finishSignIn,
  linkedIssuers,
  signUpBy,
  unlinkIssuer,
} from "../services/administration/sign-in.js";
import type { Deps } from "../services/deps.js";
import { lastKnown } from "../services/formats/last-known.js";
import { tableOf } from "../services/previews/preview.js";
import { RecordGone } from "../services/records/find.js";
import type { TypedDocumentString } from "./document.js";
import { ViewerDocument } from "./documents.js";
import { metadataSize } from "../services/formats/read-crate.js";
import { drawEvidence, drawNearby } from "../services/evidence/picture/drawing.js";
import { asksForPage, Frame, rememberForm, rememberViewer, sendError } from "./frame.js";
import type {
  CrateUpload,
  IssuerSignIn,
  Operation,
  Page,
  PageRequest,
  Redirect,
  Route,
  SparqlAnswer,
  SparqlQuery,
  Viewer,
} from "./page.js";
import { accountRoutes } from "./pages/account.js";
import { adminRoutes } from "./pages/admin.js";
import { auditRoutes } from "./pages/audit.js";
import { editRoutes, newRoutes } from "./pages/edit.js";
import { evidenceRoutes } from "./pages/evidence/evidence.js";
import { explorerRoutes } from "./pages/explorers.js";
import { helpRoutes, textRoutes } from "./pages/help.js";
import { homeRoutes } from "./pages/home.js";
import { personRoutes } from "./pages/person.js";
import { accessRoute } from "./pages/my/access.js";
import { groupsRoute } from "./pages/my/groups.js";
import { overviewRoute } from "./pages/my/overview.js";
import { profileRoute } from "./pages/my/profile.js";
import { recordRoutes } from "./pages/my/records.js";
import { uploadsRoute } from "./pages/my/uploads.js";
import { askRoutes } from "./pages/record/ask.js";
import { crateRoutes } from "./pages/record/crate.js";
import { filesRoutes, previewRoutes } from "./pages/record/files.js";
import { historyRoutes, tombstonePage } from "./pages/record/history.js";
import { referenceRoutes, relatedRoutes } from "./pages/record/related.js";
import { reviewRoutes } from "./pages/record/review.js";
import { shareRoutes } from "./pages/record/share.js";
import { scoreRoutes } from "./pages/record/score.js";
import { reserveRoutes } from "./pages/reserve.js";
import { searchRoutes } from "./pages/search.js";
import { uploadRoutes } from "./pages/upload.js";

/** Every page with an address of its own. */
export const ROUTES: readonly Route[] = [
  ...homeRoutes,
  ...accountRoutes,
  ...searchRoutes,
  ...historyRoutes,
  ...crateRoutes,
  ...scoreRoutes,
  ...filesRoutes,
  ...previewRoutes,
  ...relatedRoutes,
  ...personRoutes,
  ...referenceRoutes,
  overviewRoute,
  ...recordRoutes,
  uploadsRoute,
  accessRoute,
  groupsRoute,
  profileRoute,
  ...adminRoutes,
  ...auditRoutes,
  ...newRoutes,
  ...reserveRoutes,
  ...shareRoutes,
  ...askRoutes,
  ...reviewRoutes,
  ...editRoutes,
  ...uploadRoutes,
  ...evidenceRoutes,
  ...textRoutes,
  ...helpRoutes,
  ...explorerRoutes,
];

/** What the pages need of the interfaces that know GraphQL and credentials. */
export interface SiteAccess {
  /**
   * The caller of a request, and the CSRF token of its session.
   * @param csrf the field of that name of a form that was sent; `unread` for a form with a file,
   * whose fields are read with it: nothing may be changed for that caller
   */
  identify(req: IncomingMessage, csrf: string | undefined | typeof UNREAD): Promise<Identity>;
  /** The account behind a user name and a password. @throws ServiceError `BAD_CREDENTIALS` */
  signIn(
    req: IncomingMessage,
    credentials: { username: string; password: string },
  ): Promise<Caller>;
  /** Counts an attempt from the request's address. @throws ServiceError `TOO_MANY_REQUESTS` */
  attempts(req: IncomingMessage, guessed: string): Promise<void>;
  /**
   * Stores the archive in the form and queues its intake, for the caller whose token the form holds
   * before its file.
   * @returns the name of the submission
   * @throws ServiceError `CSRF_REFUSED`, `NOT_AUTHENTICATED`, as the upload over REST
   */
  uploadCrate(req: IncomingMessage, options: CrateUpload): Promise<string>;
  /** Answers a SPARQL query; the wait ends when the browser has left. @throws ServiceError */
  sparql(
    req: IncomingMessage,
    res: ServerResponse,
    reader: Identity,
    query: SparqlQuery,
  ): Promise<SparqlAnswer>;
  /** The operations of the REST API. */
  operations: readonly Operation[];
  /** Executes a document in this process. @throws ServiceError of the first field that failed */
  ask<Result, Variables extends object>(
    req: IncomingMessage,
    reader: Identity,
    document: TypedDocumentString<Result, Variables>,
    variables: Variables,
  ): Promise<Result>;
}

/** In place of the CSRF token of a form that its page reads, later. */
export const UNREAD = Symbol("the form is not read yet");

/**
 * The web pages: addresses that answer browsers. Each page asks one GraphQL document, with the
 * rights of its reader.
 */
export class Site {
  readonly #deps: Deps;
  readonly #access: SiteAccess;
  readonly #addressOf: ClientAddress;
  /** Answers requests for pages, and leaves others to the next middleware. */
  readonly pages: RequestHandler;

  constructor(deps: Deps, access: SiteAccess) {
    this.#deps = deps;
    this.#access = access;
    this.#addressOf = clientAddress(deps.config.TRUSTED_PROXIES);
    const router = this.#router();
    this.pages = (req, res, next) => {
      if (req.method !== "POST" && !asksForPage(req)) return next();
      // Slashes at the end do not count, as in REST; the router ignores one.
      const [path, ...query] = req.url.split("?");
      if (path!.endsWith("//")) req.url = [path!.replace(/\/+$/, "/"), ...query].join("?");
      router(req, res, next);
    };
  }

  #router(): Router {
    const router = Router({ caseSensitive: true });
    for (const { path, get, post, takesFile } of ROUTES) {
      const answer = (make: NonNullable<Route["get"]>): RequestHandler => {
        return async (req, res, next) => {
          const params = paramsOf(req);
          const url = targetOf(req);
          if (!params || !url) return next();
          if (req.method === "POST") {
            if (isMultipart(req) && !takesFile)
              throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", "This form has no file.");
            rememberForm(req);
          }
          await this.#make(await this.#request(req, res, url, params), make);
        };
      };
      if (get) router.get(path, answer(get));
      if (post) router.post(path, answer(post));
    }
    return router;
  }

  /**
   * A page outside the routes, for example that of a record, whose address REST reads.
   * @param make gets the request as pages see it
   * @param params what the parameters of its path matched
   */
  async page(
    req: IncomingMessage,
    res: ServerResponse,
    make: (request: PageRequest) => Promise<Page | Redirect>,
    params: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await this.#make(await this.#request(req, res, targetOf(req)!, params), make);
  }

  /**
   * Answers with an error. Where a browser asks for a page, a deleted record has its tombstone, with
   * the names of those whom it names.
   */
  async refuse(req: IncomingMessage, res: ServerResponse, error: unknown): Promise<void> {
    const { log } = this.#deps;
    if (error instanceof RecordGone && !res.headersSent && asksForPage(req))
      try {
        return await this.page(req, res, (request) => this.#tombstone(request, error));
      } catch (fault) {
        log.error({ err: fault }, "the page of a deleted record could not be shown");
      }
    // Not where a store is at fault, which would be asked again.
    const isClients = error instanceof ServiceError && error.status < 500;
    if (isClients && !res.headersSent && asksForPage(req))
      await this.#reader(req, undefined).catch(() => {});
    sendError(req, res, error, log);
  }

  /** @throws ServiceError when the page cannot be shown */
  async #make(request: PageRequest, make: NonNullable<Route["get"]>): Promise<void> {
    let answer: Page | Redirect;
    try {
      answer = await make(request);
    } catch (error) {
      if (!(error instanceof RecordGone)) throw error;
      answer = await this.#tombstone(request, error);
    }
    await this.#send(request, answer);
  }

  async #tombstone(request: PageRequest, error: RecordGone): Promise<Page> {
    const seen = seenBy(readBy(this.#deps, request.review), request.caller);
    return tombstonePage(request, error, await lastKnown(seen, error.ark));
  }

  /** Who reads, and their questions. The frame shows who is signed in. */
  async #reader(req: IncomingMessage, sent: string | typeof UNREAD | undefined) {
    const reader = await this.#access.identify(req, sent);
    const { caller, session, review } = reader;
    const csrf = session?.csrf ?? null;
    const ask: PageRequest["ask"] = (document, variables) =>
      this.#access.ask(req, reader, document, variables);
    const viewer = caller && (await viewerOf(caller, ask));
    rememberViewer(req, { viewer, csrf, review });
    return { reader, caller, csrf, viewer, ask, review };
  }

  async #request(
    req: IncomingMessage,
    res: ServerResponse,
    { path, query }: Target,
    params: Readonly<Record<string, string>>,
  ): Promise<PageRequest> {
    const form = await formOf(req, this.#deps);
    const sent = isMultipart(req) ? UNREAD : (form.get("csrf") ?? undefined);
    const { reader, caller, csrf, viewer, ask, review } = await this.#reader(req, sent);
    const seen = seenBy(readBy(this.#deps, review), caller);
    // The link has ended.
    if (!review && req.method === "GET" && reviewIn(req, this.#deps) !== undefined)
      res.appendHeader("Set-Cookie", reviewCookie(this.#deps, "", null));
    return {
      req,
      res,
      path,
      param: (name) => {
        const value = params[name];
        if (value === undefined) throw new Error(`The path of this page has no :${name}`);
        return value;
      },
      query,
      form,
      caller,
      viewer,
      csrf,
      review,
      base: this.#deps.baseUrl(),
      issuers: this.#issuers(req, res, query, caller),
      hasPasswords: this.#deps.config.PASSWORD_SIGN_IN === "on",
      passwordLength: this.#deps.config.PASSWORD_MIN_LENGTH,
      privateUploads: this.#deps.config.DEFAULT_VISIBILITY !== "open",
      ask,
      signIn: async (credentials) => {
        const account = await this.#access.signIn(req, credentials);
        await startSession(this.#deps, req, res, account);
      },
      uploadCrate: (options) => this.#access.uploadCrate(req, options),
      sparql: (asked) => this.#access.sparql(req, res, reader, asked),
      drawEvidence: (asked, look) => drawEvidence(seen, asked, { form: "page", base: "", ...look }),
      drawNearby: (ark, groupLink) => drawNearby(seen, ark, { form: "page", base: "", groupLink }),
      metadataSize: (ark) => metadataSize(seen, ark),
      readTable: (ark, question) => tableOf(seen, ark, caller, question),
      operations: this.#access.operations,
      signOut: () => endSession(this.#deps, req, res),
      openReview: async (secret) => {
        await this.#access.attempts(req, "review links");
        const opened = await openReviewLink(this.#deps, secret);
        res.appendHeader("Set-Cookie", reviewCookie(this.#deps, secret, opened.expiresAt));
        return opened.record;
      },
      endReview: () => void res.appendHeader("Set-Cookie", reviewCookie(this.#deps, "", null)),
    };
  }

  #issuers(
    req: IncomingMessage,
    res: ServerResponse,
    query: URLSearchParams,
    caller: Caller | null,
  ): IssuerSignIn {
    const deps = { ...this.#deps, client: this.#addressOf(req) };
    const attempts = (guessed: string) => this.#access.attempts(req, guessed);
    const begin = async (name: string, to: string, link?: Caller): Promise<Redirect> => {
      const asked = { to, ...(link ? { link } : {}) };
      const { address, transaction } = await beginSignIn(deps, name, asked);
      return {
        redirect: address,
        headers: { "Set-Cookie": transactionCookie(deps, transaction) },
      };
    };
    return {
      all: deps.issuers.map(({ name, label }) => ({ name, label })),
      begin,
      beginLink: (name) => begin(name, "/my/profile?done=linked", authenticated(caller)),
      finish: async (name) => {
        await attempts("issuers");
        const transaction = transactionIn(req, deps);
        const found = { query: query.toString(), transaction, caller };
        const end = await finishSignIn(deps, name, found);
        res.appendHeader("Set-Cookie", transactionCookie(deps, null));
        if ("unknown" in end) {
          const { unknown: person, pending, to } = end;
          return { pending, name: person.name, email: person.email, to };
        }
        if ("account" in end) await beginSession(deps, req, res, end.account);
        return { redirect: end.to };
      },
      signUp: async (pending, fields) => {
        const account = await signUpBy(deps, pending, fields, attempts);
        await startSession(deps, req, res, account);
      },
      linked: () => linkedIssuers(deps, authenticated(caller)),
      unlink: (name) => unlinkIssuer(deps, name, authenticated(caller)),
      approveDevice: (code) => approveDevice(deps, code, authenticated(caller)),
    };
  }

  async #send(request: PageRequest, answer: Page | Redirect): Promise<void> {
    const { req, res } = request;
    // The page, or something it does, has answered by itself.
    if (res.headersSent) return;
    if ("redirect" in answer) {
      const status = req.method === "POST" ? 303 : 302;
      // Headers hold ASCII only; what a reader typed may hold any character.
      const location = answer.redirect.toWellFormed().replace(/[^\x21-\x7e]+/g, encodeURIComponent);
      res.writeHead(status, { Location: location, ...PRIVATE, ...answer.headers }).end();
      return;
    }
    const bytes = Buffer.from(htmlOf(request, answer));
    // Weak: the compressed page has it too.
    const etag = `W/"${createHash("sha256").update(bytes).digest("base64url").slice(0, 27)}"`;
    const headers = {
      ...PRIVATE,
      ...answer.headers,
      ETag: etag,
      "Content-Security-Policy": answer.policy ?? PAGE_POLICY,
    };
    const status = answer.status ?? 200;
    if (status === 200 && notModified(req, etag))
      return void res.writeHead(304, { ...SAFE_HEADERS, ...headers }).end();
    sendBytes(req, res, bytes, { status, type: "text/html; charset=utf-8", headers });
  }
}

/** The frame shows who is signed in. */
const PRIVATE = { "Cache-Control": "no-cache, private", Vary: "Accept, Authorization, Cookie" };

/** A page as HTML, in the frame. */
export function htmlOf(
  request: Pick<PageRequest, "req" | "viewer" | "csrf" | "base" | "review"> & {
    query?: URLSearchParams;
  },
  page: Page,
): string {
  const { req, viewer, csrf, review, base, query } = request;
  const here = req.url ?? "/";
  const words = query?.get("q") ?? undefined;
  return `<!doctype html>${render(<Frame {...{ page, viewer, csrf, review, base, here, query: words }} />)}`;
}

async function viewerOf(caller: Caller, ask: PageRequest["ask"]): Promise<Viewer | null> {
  const { me } = await ask(ViewerDocument, {});
  return me && { ...me, admin: caller.admin };
}

interface Target {
  path: string;
  query: URLSearchParams;
}

/** Path and query of a request; `undefined` for a path that is no text. */
function targetOf({ url = "/" }: IncomingMessage): Target | undefined {
  const target = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*/i, "") || "/";
  const mark = target.indexOf("?");
  try {
    const path = decodeURIComponent(mark < 0 ? target : target.slice(0, mark));
    return {
      path: path.length > 1 ? path.replace(/\/+$/, "") || "/" : path,
      query: new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1)),
    };
  } catch {
    return undefined;
  }
}

/**
 * What the parts of the route's path matched, an identifier as one text; `undefined` where it is no
 * identifier.
 */
function paramsOf({ params }: Request): Record<string, string> | undefined {
  const { ark, ...others } = params;
  if (!Array.isArray(ark)) return others as Record<string, string>;
  const identifier = ark.join("/").replace(/\/+$/, "");
  if (!/^ark:./s.test(identifier)) return undefined;
  return { ...(others as Record<string, string>), ark: identifier };
}

const isMultipart = ({ headers }: IncomingMessage): boolean =>
  /^multipart\/form-data/i.test(headers["content-type"] ?? "");

/** The fields of a form that was posted. @throws ServiceError for another body */
async function formOf(req: IncomingMessage, deps: Deps): Promise<URLSearchParams> {
  if (req.method !== "POST") return new URLSearchParams();
  const type = req.headers["content-type"] ?? "";
  if (isMultipart(req)) return new URLSearchParams();
  if (!/^application\/x-www-form-urlencoded/i.test(type))
    throw new ServiceError(
      "UNSUPPORTED_MEDIA_TYPE",
      "A form of a page is sent as application/x-www-form-urlencoded.",
    );
  const bytes = await readBytes(req, deps.config.MAX_BODY_BYTES, "MAX_BODY_BYTES");
  return formFields(bytes.toString("utf8"), deps.config);
}
