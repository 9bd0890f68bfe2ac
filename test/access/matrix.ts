/**
 * Caller × state × every read. A reader finds what the table of docs/access.md lets them see, as an
 * administrator does, and nothing else; where a record does not exist for them, the answer is that
 * of an identifier that nobody has.
 */
import { Agent, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  makeMatrixWorld,
  type MatrixWorld,
  type Part,
  plantedIn,
  type Target,
} from "./matrix-world.js";
import { type Read, readsOf } from "./reads.js";
import { type Caller, seersOf, type State } from "./who-sees.js";
import { textOf } from "./world.js";

/** Which part of the matrix is run. */
export interface Extent {
  callers: readonly Caller[];
  states: readonly State[];
  /** How those with an account show who they are. */
  by?: "token" | "session";
  /** Leaves out reads, for a quick test. */
  reads?: (read: Read) => boolean;
}

interface Answer {
  status: number;
  /** Headers and body. */
  text: string;
}

/** Reads for those who may change a record, or who have an account. Others are refused. */
const FOR_SOME = new Set(
  "list_review_links reviewLinks /reviewers/*ark /edit/*ark /reserve/*ark /ask/*ark /score/*ark".split(
    " ",
  ),
);
const REFUSED = [302, 401, 403, 404];
/** What names the makers of a crate, which an anonymous link hides: it is refused, or leaves them out. */
const NAMING =
  /^(?:HEAD )?(?:download_archive|download_crate|download_content|view_content)$|=croissant$/;

/** An identifier that nobody has, of a target of each sort. */
const NOTHING: Readonly<Record<Target["what"], string>> = {
  file: "ark:99999/matrix-nothing-file",
  crate: "ark:99999/matrix-nothing-crate",
  member: "ark:99999/matrix-nothing-crate/member.csv",
  loose: "ark:99999/matrix-nothing-crate/loose.txt",
};
/** Of each request, and what depends on the length of an identifier. */
const VOLATILE = /^((?:date|x-request-id|content-length|etag|x-as-of|set-cookie|age)):.*$/gim;
const normal = (text: string, ark: string): string =>
  text
    .replace(VOLATILE, "$1")
    .replaceAll(encodeURIComponent(ark), "ARK")
    .replaceAll(ark, "ARK")
    // Its words, as a page offers to search for them.
    .replace(/matrix(-| |%20)\w+/g, "matrix")
    .replace(/"asOf":\s*\d+/g, "")
    .replace(/[\w-]{20,}/g, "");

/** Statuses of codes of GraphQL. */
const STATUS: Readonly<Record<string, number>> = {
  NOT_FOUND: 404,
  GONE: 410,
  FORBIDDEN: 403,
  NOT_AUTHENTICATED: 401,
};

export function matrixTests({ callers, states, by = "token", reads: wanted }: Extent): void {
  const agent = new Agent({ keepAlive: true });
  let world: MatrixWorld;
  let reads: Read[];

  const send = (
    { method, path, headers = {}, body }: ReturnType<Read["question"]>,
    credentials: Record<string, string>,
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const all = { Accept: "*/*", "Accept-Encoding": "gzip", ...headers, ...credentials };
      const asked = request(world.server.url + path, { method, agent, headers: all }, (answer) => {
        buffer(answer)
          .then(async (bytes) => {
            const zipped = answer.headers["content-encoding"] === "gzip" && bytes.length > 0;
            const lines: string[] = [];
            for (let at = 0; at < answer.rawHeaders.length; at += 2)
              lines.push(`${answer.rawHeaders[at]}: ${answer.rawHeaders[at + 1]}`);
            const text = await textOf(zipped ? gunzipSync(bytes) : bytes);
            resolve({ status: answer.statusCode!, text: `${lines.join("\n")}\n\n${text}` });
          })
          .catch(reject);
      });
      asked.on("error", reject);
      asked.end(body);
    });

  const ask = async (read: Read, caller: Caller, target: Target, ark = target.ark) => {
    const credentials = world.credentials(caller, target);
    const question = read.question(world, ark);
    let answer = await send(question, credentials);
    // The graph index of a busy machine may be behind.
    for (let again = 0; answer.status === 503 && again < 20; again++) {
      await pause(500);
      answer = await send(question, credentials);
    }
    return read.by === "GraphQL" ? { ...answer, status: statusOf(answer) } : answer;
  };
  function statusOf({ status, text }: Answer): number {
    const { data, errors } = JSON.parse(text.slice(text.indexOf("\n\n") + 2)) as {
      data?: Record<string, unknown> | null;
      errors?: { extensions?: { code?: string }; path?: unknown[] }[];
    };
    const whole = errors?.find(({ path = [] }) => path.length <= 1);
    if (whole) return STATUS[whole.extensions?.code ?? ""] ?? 500;
    const found = Object.values(data ?? {}).flat();
    return found.every((value) => value === null) ? 404 : status;
  }

  /** Whether a reader may see what is planted. @param target whose link the reader has */
  const maySee = (part: Part, number: number, caller: Caller, target: Target, read: Read) => {
    // Of SPARQL, those who read by a link see what everybody sees.
    const isSparql = read.name.startsWith("sparql_");
    if (number === 0) return isSparql || caller !== "anonymousReviewer";
    const planted = world.targets.find((one) => one.number === number);
    // Of a crate whose archive and contents are partly deleted.
    if (!planted) return part !== "maker" || caller !== "anonymousReviewer";
    const isReviewer = caller === "reviewer" || caller === "anonymousReviewer";
    const isElsewhere = isSparql || planted.linked !== target.linked;
    const as = isReviewer && isElsewhere ? "anonymous" : caller;
    const seers = seersOf(planted.state);
    const isTombstone = read.by === "page" && planted.state === "withdrawn";
    if (part === "maker" && caller === "anonymousReviewer" && !isSparql) return false;
    // Who cited it finds out what it was.
    if (isTombstone && ["name", "text", "maker"].includes(part)) return true;
    if (part === "bytes") return seers.content.has(as);
    if (read.isFeed) return seers.feeds.has(as);
    return (read.isSearch ? seers.search : seers.words).has(as);
  };
  const leaksOf = ({ text }: Answer, caller: Caller, target: Target, read: Read): string[] => [
    ...plantedIn(text)
      .filter(({ part, target: number }) => !maySee(part, number, caller, target, read))
      .map(({ part, target: number, at }) => {
        const { state = "", what = "" } = world.targets.find((one) => one.number === number) ?? {};
        const around = text.slice(Math.max(0, at - 60), at + 20).replaceAll("\n", "⏎");
        return `${part} of the ${what} that is ${state}, at "${around}"`;
      }),
    ...world.secrets
      .filter((secret) => !secret.readers.includes(caller) && text.includes(secret.text))
      .map((secret) => `the secret ${secret.text}`),
  ];

  beforeAll(async () => {
    world = await makeMatrixWorld(states, by);
    reads = (await readsOf(world)).filter((read) => wanted?.(read) ?? true);
  }, 600_000);
  afterAll(async () => {
    agent.destroy();
    const { faults } = world.server;
    await world.server.stop();
    expect(faults).toEqual([]);
  });

  describe.each(states)("what is %s", (state) => {
    it(`is seen by ${callers.join(", ")} as docs/access.md says, in every read`, async () => {
      const seers = seersOf(state);
      const problems: string[] = [];
      let shown = 0;
      /** Of one target, by caller and read. */
      const statuses = new Map<string, number>();
      const nothing = new Map<string, Promise<Answer>>();
      const check = async (read: Read, target: Target, full: Answer) => {
        for (const caller of callers) {
          const fail = (what: string) =>
            problems.push(`${caller}, ${target.what}, ${read.by} ${read.name}: ${what}`);
          const answer = caller === "admin" ? full : await ask(read, caller, target);
          for (const leak of leaksOf(answer, caller, target, read)) fail(`shows ${leak}`);
          if (answer.status >= 500) fail(`status ${answer.status}`);
          if (!seers.exists.has(caller)) {
            const key = `${caller} ${read.by} ${read.name} ${target.what}`;
            const none = nothing.get(key) ?? ask(read, caller, target, NOTHING[target.what]);
            nothing.set(key, none);
            const [is, be] = [answer, await none];
            if (is.status !== be.status)
              fail(`status ${is.status}, and ${be.status} for what nobody has`);
            else if (normal(is.text, target.ark) !== normal(be.text, NOTHING[target.what]))
              fail(`not as for what nobody has: ${difference(is, be, target)}`);
            continue;
          }
          statuses.set(`${caller} ${read.by} ${read.name}`, answer.status);
          if (caller === "admin") continue;
          if (read.name.startsWith("HEAD ")) {
            const got = statuses.get(`${caller} ${read.by} ${read.plain!}`);
            if (got !== answer.status) fail(`status ${answer.status}, and ${got} for GET`);
            continue;
          }
          if (FOR_SOME.has(read.name) && [200, ...REFUSED].includes(answer.status)) continue;
          if (caller === "anonymousReviewer" && NAMING.test(read.name) && target.what === "crate")
            continue;
          const isOfContent = plantedIn(full.text).some(
            ({ part, target: number }) =>
              part === "bytes" && !maySee(part, number, caller, target, read),
          );
          // An archive has both.
          const isRefused = isOfContent && [401, 403].includes(answer.status);
          const wanted = plantedIn(full.text).filter(({ part, target: number }) =>
            maySee(part, number, caller, target, read),
          );
          const has = new Set(plantedIn(answer.text).map((word) => `${word.part} ${word.target}`));
          const misses = new Set(
            wanted.map((word) => `${word.part} ${word.target}`).filter((word) => !has.has(word)),
          );
          if (misses.size > 0 && !isRefused)
            fail(`status ${answer.status} does not show ${[...misses].join()}`);
          else shown += wanted.length;
          const expected = [full.status, ...(isOfContent ? [401, 403] : [])];
          if (!seers.words.has(caller)) expected.push(410);
          if (!expected.includes(answer.status))
            fail(`status ${answer.status}, and ${full.status} for an administrator`);
        }
      };
      for (const target of world.targets.filter((one) => one.state === state)) {
        const found = new Map<string, number>();
        statuses.clear();
        const asked = reads.filter(
          ({ of, whats }) => of === "record" && (whats?.includes(target.what) ?? true),
        );
        for (const some of [
          asked.filter(({ plain }) => plain === undefined),
          asked.filter(({ plain }) => plain !== undefined),
        ])
          await each(some, async (read) => {
            // An operation of another kind finds nothing in any of its forms.
            if (read.plain !== undefined && found.get(read.plain) === 404) return;
            const full = await ask(read, "admin", target);
            found.set(read.name, full.status);
            await check(read, target, full);
          });
      }
      expect(problems).toEqual([]);
      if (callers.some((caller) => caller !== "admin" && seers.words.has(caller)))
        expect(shown).toBeGreaterThan(20);
    }, 900_000);
  });

  it("accounts, groups and stored evidence show nothing of others", async () => {
    const problems: string[] = [];
    const [target] = world.targets;
    const cases = callers.flatMap((caller) =>
      reads
        .filter(({ of, whats }) => of === "record" && whats === undefined)
        .flatMap((read) => world.others.map((ark) => ({ caller, read, ark })))
        // An answer repeats the identifier of the account, which names a maker.
        .filter(({ ark }) => caller !== "anonymousReviewer" || ark !== world.others[0]),
    );
    await each(cases, async ({ caller, read, ark }) => {
      const answer = await ask(read, caller, target!, ark);
      const name = `${caller}, ${read.by} ${read.name} of ${ark}`;
      for (const leak of leaksOf(answer, caller, target!, read)) problems.push(`${name}: ${leak}`);
      if (answer.status >= 500) problems.push(`${name}: status ${answer.status}`);
    });
    expect(problems).toEqual([]);
  }, 900_000);

  it("no list, search, feed or page shows what is not for its reader", async () => {
    const problems: string[] = [];
    const cases = callers.flatMap((caller) =>
      reads.filter(({ of }) => of === "registry").map((read) => ({ caller, read })),
    );
    const target = world.targets.find(({ what }) => what === "crate")!;
    await each(cases, async ({ caller, read }) => {
      const answer = await ask(read, caller, target);
      const name = `${caller}, ${read.by} ${read.name}`;
      for (const leak of leaksOf(answer, caller, target, read)) problems.push(`${name}: ${leak}`);
      if (answer.status >= 500) problems.push(`${name}: status ${answer.status}`);
    });
    expect(problems).toEqual([]);
  }, 900_000);
}

/** Where two answers begin to differ. */
function difference(is: Answer, be: Answer, { ark, what }: Target): string {
  const [one, other] = [normal(is.text, ark), normal(be.text, NOTHING[what])];
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const around = (text: string) => text.slice(Math.max(0, at - 40), at + 60).replaceAll("\n", "⏎");
  return `"${around(one)}", "${around(other)}"`;
}

/** Of a few at a time: the server works on others while one waits. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (next < items.length) await work(items[next++]!);
    }),
  );
}
