/** How a path becomes an operation: openapi-backend's router, and what ARKs need beside it. */
import { type Document, OpenAPIRouter, type Operation, type Request } from "openapi-backend";
import { lookupArk } from "../identifiers/ark.js";
import type { Deps } from "../services/deps.js";
import { isUndescribed } from "../services/files/content.js";
import { storedUnder } from "../services/records/find.js";
import type { Target } from "./request.js";

/** The router of openapi-backend, which collects its operations once instead of at each request. */
class Templates extends OpenAPIRouter {
  readonly #operations: readonly Operation[];

  constructor(definition: Document) {
    super({ definition });
    this.#operations = super.getOperations();
  }

  override getOperations(): Operation[] {
    return [...this.#operations];
  }
}

/**
 * The same, divided by the first segment of the path: the library tries every template for every
 * request, and builds its expression each time; here it tries a few of them.
 */
export class ArkRouter extends Templates {
  readonly #byFirst: ReadonlyMap<string, Templates>;
  readonly #none: Templates;

  constructor(definition: Document) {
    super(definition);
    const part = (paths: object) => new Templates({ ...definition, paths } as Document);
    const parts = new Map<string, object>();
    for (const [template, item] of Object.entries(definition.paths ?? {})) {
      const first = firstSegment(template);
      parts.set(first, { ...parts.get(first), [template]: item });
    }
    this.#byFirst = new Map([...parts].map(([first, paths]) => [first, part(paths)]));
    this.#none = part({});
  }

  override matchOperation(request: Request): Operation | undefined;
  override matchOperation(request: Request, strict: boolean): Operation;
  override matchOperation(request: Request, strict = false): Operation | undefined {
    const router = this.#byFirst.get(firstSegment(request.path)) ?? this.#none;
    return router.matchOperation(request, strict);
  }

  /** Every operation of a path; none where no template matches it. */
  operationsOf(path: string): Operation[] {
    return METHODS.flatMap((method) => this.matchOperation({ method, path, headers: {} }) ?? []);
  }
}

const METHODS = ["DELETE", "GET", "PATCH", "POST", "PUT"];

/** `/ark:…` of any authority counts as one first segment. */
function firstSegment(path: string): string {
  const segment = path.split("/", 2)[1] ?? "";
  return segment.startsWith("ark:") ? "ark:" : segment;
}

/**
 * A path with an identifier: what stands before it, its authority, and the rest. It begins with
 * `ark:`, the old `ark:/`, or `ark` before the digits of a NAAN.
 */
const WITH_ARK = /^(.*?\/)ark(?::\/?|(?=[0-9]{5,}\/))([^/]+)\/(.+)$/is;

/** One way to separate the identifier in a path from what follows it. */
interface Reading {
  /** The path as the templates of the contract have it: each parameter is one encoded segment. */
  path: string;
  /** The identifier as the path spells it. */
  ark: string;
}

/**
 * How a path with an identifier can be read: as a record, and perhaps as an operation on one. The
 * rest of an identifier may hold slashes, so its last word may be the name of an operation
 * (`…/download`), and its first an organization (`/project/ark:99999/organization-lab/project-atlas`).
 * @returns none for a path without an identifier
 */
function readingsOf(router: ArkRouter, method: string, path: string): readonly Reading[] {
  const [, head, naan, rest] = WITH_ARK.exec(path) ?? [];
  if (head === undefined || naan === undefined || rest === undefined) return [];
  const pathOf = (...parts: string[]): string =>
    `${encoded(head)}ark:${[naan, ...parts].map(encodeURIComponent).join("/")}`;
  const whole: Reading = { path: pathOf(rest), ark: `ark:${naan}/${rest}` };
  const last = rest.lastIndexOf("/");
  if (last < 1) return [whole];
  const first = rest.indexOf("/");
  const nested = pathOf(rest.slice(0, first), rest.slice(first + 1));
  const found = router.matchOperation({ method, path: nested, headers: {} });
  const record = found && !hasSuffix(found) ? { ...whole, path: nested } : whole;
  const before = rest.slice(0, last);
  const operation = pathOf(before, rest.slice(last + 1));
  return router.operationsOf(operation).some(hasSuffix)
    ? [record, { path: operation, ark: `ark:${naan}/${before}` }]
    : [record];
}

/** Words follow the identifier: `/ark:{NAAN}/{postfix}/history`. */
const hasSuffix = ({ path }: Operation): boolean => !path.endsWith("}");

const encoded = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

/** Whether an identifier is that of a stored record, letter by letter. */
async function isStored(deps: Deps, ark: string): Promise<boolean> {
  const asked = lookupArk(ark);
  const stored = asked === undefined ? [] : await storedUnder(deps, asked);
  return stored.length === 1 && stored[0] === asked?.stored;
}

/** Whether an identifier with an escape in the name of its file is that of an undescribed file. */
async function isFileName(deps: Deps, ark: string): Promise<boolean> {
  const asked = lookupArk(ark);
  return asked?.stored.includes("%25") === true && isUndescribed(deps, asked);
}

/**
 * Rewrites a request target for the router, the slashes of its identifier encoded. The path is
 * decoded once, but an identifier as it is written wins where a record or a file of a crate has it:
 * the escapes in it are part of it, and decoded they may spell the identifier of another file. An
 * identifier that equals the whole path wins as well; else its last word is the operation.
 * @returns the target as it is meant, and the path for the router
 */
export async function rewritten(
  deps: Deps,
  router: ArkRouter,
  method: string,
  target: Target,
): Promise<{ target: Target; routed: string }> {
  const { written } = target;
  let { path } = target;
  let readings = readingsOf(router, method, path);
  if (written !== undefined) {
    const asWritten = readingsOf(router, method, written);
    for (const { ark } of asWritten)
      if ((await isStored(deps, ark)) || (await isFileName(deps, ark)))
        [path, readings] = [written, asWritten];
  }
  const [record, operation] = readings;
  const isRecord = !operation || (record !== undefined && (await isStored(deps, record.ark)));
  return {
    target: { ...target, path },
    routed: (isRecord ? record : operation)?.path ?? encoded(path),
  };
}
