/** Records of every kind: create, read, change, delete, revisions and publication. */
import { ServiceError } from "../errors.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { KIND_RESOLVERS } from "../graphql/resolvers/kind-resolver.js";
import { PublicationResolver, RecordResolver } from "../graphql/resolvers/record-resolver.js";
import { JSON_PATCH, mediaType, readJson } from "../http/body.js";
import { expectedRevision, negotiate } from "../http/negotiation.js";
import { NOT_STORED, SAFE_HEADERS, sendJson, streamJsonArray } from "../http/reply.js";
import { type Ark, lookupArk, parseArk, referencedArk } from "../identifiers/ark.js";
import type { KindName } from "../model/kind.js";
import { KINDS } from "../model/kinds.js";
import { describedCrate } from "../services/crates/layout.js";
import { type Content, contentInstead, contentOf } from "../services/files/content.js";
import { readRecord } from "../services/evidence/stored/build.js";
import { rocrate } from "../services/formats/crate.js";
import { json as jsonForm, jsonld } from "../services/formats/documents.js";
import type { RecordFormat } from "../services/formats/format.js";
import { publicationOf, readPublication } from "../services/publication/publish.js";
import { askedArk } from "../services/records/find.js";
import { liveRecords } from "../services/records/links.js";
import { listAll, listParameters } from "../services/records/list.js";
import { namingParameters, selectRecords } from "../services/records/select.js";
import {
  historyParameters,
  historyView,
  readHistory,
  readRevision,
  revisionParameter,
} from "../services/records/read.js";
import {
  etagOf,
  parseDocument,
  type RecordView,
  readBacklinkCursor,
  viewOf,
  viewsOf,
} from "../services/records/view.js";
import type { StoredRecord } from "../storage/records/port.js";
import { sendContent } from "./files.js";
import { sendFormat, sendRecord, sendWritten, stateHeaders } from "./record-forms.js";
import { visibilityParameter } from "../services/access/visibility.js";
import {
  arkOf,
  type Handler,
  type Handlers,
  linkToNext,
  type RestRequest,
  splitTarget,
} from "./request.js";

const records = new RecordResolver();

/** List, create, replace, patch, fetch and delete of one kind; the same six for every kind with a path. */
function recordHandlers(kind: KindName): Handlers {
  const resolver = KIND_RESOLVERS[kind];
  const open = kind === "user";

  const list: Handler = async (request) => {
    const { req, res, context } = request;
    if (kind === "user") signedIn(context);
    const own = kind === "user" ? NOT_STORED : {};
    const { page, ...asked } = listParameters(request.query);
    if (page === null) {
      await streamJsonArray(
        req,
        res,
        documentsOf(listAll(context.deps, kind, asked, context.caller)),
        own,
      );
      return;
    }
    const found = await selectRecords(
      context.deps,
      { kind, ...asked, range: page },
      context.caller,
    );
    const [views, total] = await Promise.all([
      viewsOf(context.deps, found.items, context.caller),
      found.count(),
    ]);
    const headers: Record<string, string> = { ...own, "X-Total-Count": String(total) };
    if (found.more)
      headers["Link"] = linkToNext(request, {
        ...request.query,
        cursor: found.positions.at(-1)!,
        limit: String(page.limit),
      });
    await streamJsonArray(
      req,
      res,
      (async function* () {
        yield views.map((view) => view.bytes);
      })(),
      headers,
    );
  };

  return {
    [`list_${kind}`]: (request) => namingParameters(request.query, async () => list(request)),
    [`create_${kind}`]: async (request) => {
      resolver.assertMayCreate(request.context);
      sendWritten(
        request,
        await resolver.create(
          await readJson(
            request.req,
            request.context.deps,
            open ? "MAX_LOGIN_BYTES" : "MAX_BODY_BYTES",
          ),
          request.context,
          visibilityParameter(request.query["visibility"]),
        ),
      );
    },
    [`update_${kind}`]: async (request) => {
      const context = signedIn(request.context);
      sendWritten(
        request,
        await resolver.replace(
          await readJson(request.req, context.deps),
          expectedRevision(request.req),
          context,
        ),
      );
    },
    [`patch_${kind}`]: (request) => patchRecord(request, kind),
    [`get_${kind}`]: (request) => getRecord(request, kind),
    [`delete_${kind}`]: (request) => remove(request, kind),
  };
}

/** The record itself, in the requested form. */
async function getRecord(request: RestRequest, kind: KindName): Promise<void> {
  const view = await viewAsked(request, arkOf(request), kind);
  await sendRecord(request, view, locationOf(request, view.record.ark));
}

async function* documentsOf(pages: AsyncIterable<RecordView[]>): AsyncGenerator<Uint8Array[]> {
  for await (const views of pages) yield views.map((view) => view.bytes);
}

/**
 * The current record, the revision that `?revision=` names, or the next derived entries at
 * `?backlinks=`.
 */
export async function viewAsked(
  { query, context }: RestRequest,
  ark: Ark,
  kind?: KindName,
): Promise<RecordView> {
  const { revision, backlinks } = query;
  if (revision !== undefined)
    return readRevision(context.deps, ark, revisionParameter(revision), context.caller, kind);
  const after = backlinks === undefined ? undefined : readBacklinkCursor(backlinks);
  const record = await readRecord(context.deps, ark, kind);
  return viewOf(context.deps, record, context.caller, after);
}

/** The record that the path names, changed by a patch whose media type says what it means. */
export async function patchRecord(request: RestRequest, kind?: KindName): Promise<void> {
  const { req } = request;
  const context = signedIn(request.context);
  const body = await readJson(req, context.deps);
  const patch = mediaType(req) === JSON_PATCH ? { operations: body } : { merge: body };
  const options = { kind, expectedRevision: expectedRevision(req) };
  sendWritten(request, await records.update(arkOf(request), patch, options, context));
}

async function remove(request: RestRequest, kind?: KindName): Promise<void> {
  const { req, query } = request;
  const context = signedIn(request.context);
  const expected = expectedRevision(req);
  const { reason, successor } = query;
  sendWritten(
    request,
    await records.remove(
      arkOf(request),
      {
        ...(kind ? { kind } : {}),
        ...(expected === undefined ? {} : { expectedRevision: expected }),
        reason,
        successor,
      },
      context,
    ),
  );
}

/** An alias is answered directly; Content-Location has the record's own spelling. */
export function locationOf(request: RestRequest, ark: string): string | undefined {
  return request.path.endsWith(`/${ark}`)
    ? undefined
    : request.path.replace(/ark(?::|[0-9]).*$/is, () => encodeURI(ark));
}

/**
 * Resolvers for identifiers of other authorities; unknown identifiers under our own NAAN return
 * 404.
 */
function globalResolver({ req, params, context, path }: RestRequest): string | undefined {
  const { ARK_NAAN, GLOBAL_RESOLVER } = context.deps.config;
  if (params.NAAN.toLowerCase() === ARK_NAAN) return undefined;
  // Undecoded: escapes are part of the identifier, and `?info` is passed on to the other resolver
  // too.
  const { written = path, search } = splitTarget(req.url ?? "/");
  const ark = parseArk(written.slice(1));
  if (ark) return `${GLOBAL_RESOLVER}/${encodeURI(ark.stored).replaceAll("%25", "%")}${search}`;
  const decoded = lookupArk(path.slice(1));
  return (
    decoded &&
    `${GLOBAL_RESOLVER}/${decoded.stored
      .split("/")
      .map(encodeURIComponent)
      .join("/")
      .replace(/^ark%3A/, "ark:")}${search}`
  );
}

/** A file of a crate that no entity describes: the identifier of the crate and its path. */
async function undescribedFile({ context }: RestRequest, ark: Ark): Promise<Content | undefined> {
  return contentOf(context.deps, ark, context.caller).catch((error: unknown) => {
    if (error instanceof ServiceError && (error.code === "NOT_FOUND" || error.code === "GONE"))
      return undefined;
    throw error;
  });
}

/**
 * The metadata document of a crate at the crate's address followed by its name (RO-Crate 1.3,
 * "Retrieving an RO-Crate"). The record of the descriptor, which has the same address, is answered
 * where the request names a format or a revision, or prefers another form than JSON.
 */
async function sendDescribedCrate(request: RestRequest, { stored }: Ark): Promise<boolean> {
  const { query, inflection, context, req } = request;
  const crate = describedCrate(stored);
  if (crate === undefined || inflection || query["format"] || query["revision"]) return false;
  const [record] = await liveRecords(context.deps, [crate]);
  if (record?.kind !== "rocrate" || !JSON_FORMS.includes(negotiate(req.headers.accept, undefined)))
    return false;
  await sendFormat(request, await viewOf(context.deps, record, context.caller), rocrate);
  return true;
}
const JSON_FORMS: readonly RecordFormat[] = [jsonld, jsonForm, rocrate];

/** The record of any kind, a file of a crate, or a redirect to another resolver. */
async function resolve(request: RestRequest): Promise<void> {
  const { res } = request;
  const ark = arkOf(request);
  if (await sendDescribedCrate(request, ark)) return;
  try {
    const view = await viewAsked(request, ark);
    const file =
      request.query["revision"] === undefined
        ? await contentInstead(request.context.deps, view.record, request.context.caller)
        : undefined;
    if (file) return await sendContent(request, file);
    await sendRecord(request, view, locationOf(request, view.record.ark));
  } catch (error) {
    // The error names other revisions of the record: the record is stored here.
    if (
      !(error instanceof ServiceError) ||
      !(error.code === "NOT_FOUND" || error.code === "GONE") ||
      "revision" in error.extra
    )
      throw error;
    const file = await undescribedFile(request, ark);
    if (file) return sendContent(request, file);
    const elsewhere = error.code === "NOT_FOUND" ? globalResolver(request) : undefined;
    if (elsewhere === undefined) throw error;
    res.writeHead(302, { ...SAFE_HEADERS, Location: elsewhere, "Content-Length": 0 }).end();
  }
}

/** The resolver: any kind, any accepted spelling. */
export const resolverOperations: Handlers = {
  resolve_ark: resolve,
  update_ark: async (request) => {
    const { req } = request;
    const context = signedIn(request.context);
    sendWritten(
      request,
      await records.replaceAt(
        arkOf(request),
        await readJson(req, context.deps),
        { expectedRevision: expectedRevision(req) },
        context,
      ),
    );
  },
  patch_ark: (request) => patchRecord(request),
  delete_ark: (request) => remove(request),
};

/** Kinds that come from archives and files have fewer of the six. */
const PARTIAL: Readonly<Partial<Record<KindName, readonly string[]>>> = {
  rocrate: ["list", "delete"],
  datadownload: ["list", "get"],
  mlmodel: ["list"],
  sample: ["list"],
  instrument: ["list"],
  experiment: ["list"],
  annotation: ["list"],
  entity: ["list"],
};

/** The operations that each kind offers. */
export const allRecordOperations: Handlers = Object.fromEntries(
  Object.values(KINDS).flatMap(({ name }) =>
    Object.entries(recordHandlers(name)).filter(
      ([id]) => PARTIAL[name]?.includes(id.slice(0, id.indexOf("_"))) ?? true,
    ),
  ),
);

/**
 * The contract's three-part path: a project whose identifier has three parts, else one of that
 * organization.
 */
export const projectOperations: Handlers = {
  get_project_of_organization: async (request) => {
    const { NAAN, organization, postfix } = request.params;
    const whole = askedArk(`ark:${NAAN}/${organization}/${postfix}`);
    try {
      await sendRecord(request, await viewAsked(request, whole, "project"));
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "NOT_FOUND") throw error;
      const view = await viewAsked(request, askedArk(`ark:${NAAN}/${postfix}`), "project").catch(
        () => undefined,
      );
      if (!view || !isMemberOf(view, askedArk(`ark:${NAAN}/${organization}`))) throw error;
      await sendRecord(request, view, `/project/${encodeURI(view.record.ark)}`);
    }
  },
};

function isMemberOf(view: RecordView, organization: Ark): boolean {
  const { memberOf } = parseDocument(view.bytes);
  const ark = typeof memberOf === "string" ? referencedArk(memberOf) : undefined;
  return ark?.key === organization.key;
}

function history(kind?: KindName): Handler {
  return async (request) => {
    const { req, res, query, context } = request;
    const page = historyParameters(query);
    const found = await readHistory(context.deps, arkOf(request), page, context.caller, kind);
    const own = found.record.kind === "user" && context.caller !== null;
    sendJson(req, res, historyView(found), {
      headers: {
        ...(found.next !== undefined && {
          Link: linkToNext(request, { before: String(found.next), limit: String(page.limit) }),
        }),
        "Cache-Control": "no-cache",
        Vary: "Authorization, Cookie",
        ...(own && NOT_STORED),
      },
    });
  };
}

/** The same for any identifier, and for the path of each kind. */
export const historyOperations: Handlers = {
  resolve_history: history(),
  ...Object.fromEntries(
    Object.values(KINDS)
      .filter(({ path }) => path !== null)
      .map(({ name }) => [`history_${name}`, history(name)]),
  ),
};

const publications = new PublicationResolver();

function send({ req, res }: RestRequest, record: StoredRecord): void {
  sendJson(req, res, publicationOf(record), {
    headers: {
      ETag: etagOf(record),
      ...stateHeaders(record),
      "Cache-Control": "no-cache",
    },
  });
}

export const publicationOperations: Handlers = {
  publish: async (request) => {
    const { req } = request;
    const context = signedIn(request.context);
    send(
      request,
      await publications.publish(await readJson(req, context.deps), expectedRevision(req), context),
    );
  },
  publication_status: async (request) =>
    send(request, await readPublication(request.context.deps, arkOf(request))),
};
