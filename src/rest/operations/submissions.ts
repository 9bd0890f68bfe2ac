import { CrateResolver } from "../../resolvers/crate-resolver.js";
import { authenticated } from "../../use-cases/access/caller.js";
import type { SubmissionView } from "../../use-cases/crates/submissions.js";
import { listParameters } from "../../use-cases/records/list.js";
import type { EventStreams, ServerEvent } from "../event-streams.js";
import { SAFE_HEADERS, sendJson } from "../reply.js";
import type { Operations, RestRequest } from "../request.js";

const crates = new CrateResolver();
const NOT_KEPT = { headers: { "Cache-Control": "no-store" } };
/** Submissions of a page when no limit is asked for. */
const PAGE = 100;
/** Id of the last event: a client that comes back with it has seen the end. */
const LAST = "completed";

/** The caller's submissions: their list, one of them or its progress, and its end. */
export function submissionOperations(streams: EventStreams): Operations {
  return {
    list_submissions: async ({ req, res, query, path, context }) => {
      authenticated(context.caller);
      const { limit, cursor } = query;
      const { page } = listParameters({ limit: limit ?? String(PAGE), cursor });
      const { items, next } = await crates.list(page!, context);
      const link = next === undefined ? {} : { Link: `<${context.deps.baseUrl()}${path}?${new URLSearchParams({ limit: String(page!.limit), cursor: next })}>; rel="next"` };
      sendJson(req, res, items, { headers: { ...NOT_KEPT.headers, ...link } });
    },
    upload_status: async (request) => {
      const { req, res, params, context } = request;
      if (wantsEvents(request)) return follow(request, streams);
      sendJson(req, res, await crates.submission(params["submissionUUID"]!, context), { headers: { ...NOT_KEPT.headers, Vary: "Accept" } });
    },
    cancel_upload: async ({ req, res, params, context }) => {
      sendJson(req, res, await crates.cancelSubmission(params["submissionUUID"]!, context), NOT_KEPT);
    },
  };
}

const wantsEvents = ({ req }: RestRequest): boolean => req.method === "GET" && /(?:^|,)\s*text\/event-stream\s*(?:[;,]|$)/i.test(req.headers.accept ?? "");

async function follow({ req, res, params, context }: RestRequest, streams: EventStreams): Promise<void> {
  const changes = await crates.follow(params["submissionUUID"]!, context);
  if (req.headers["last-event-id"] === LAST) {
    await changes[Symbol.asyncIterator]().return?.();
    // Tells a browser's EventSource, which comes back after every end, not to (HTML Standard, section 9.2.3).
    return void res.writeHead(204, SAFE_HEADERS).end();
  }
  const { MAX_EVENT_STREAMS: most, EVENT_HEARTBEAT: heartbeat } = context.deps.config;
  await streams.send(req, res, eventsOf(changes), { most, heartbeat });
}

/** Not a generator: ending it must not wait for the next change. */
function eventsOf(changes: AsyncIterable<SubmissionView>): AsyncIterable<ServerEvent> {
  const source = changes[Symbol.asyncIterator]();
  let count = 0;
  const iterator: AsyncIterator<ServerEvent> = {
    async next() {
      const { done, value } = await source.next();
      if (done) return { done: true, value: undefined };
      return { done: false, value: { event: "submission", id: value.completed ? LAST : String(++count), data: JSON.stringify(value) } };
    },
    async return() {
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
