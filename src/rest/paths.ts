/** A template of the OpenAPI document, ready to match. */
interface Route {
  template: string;
  pattern: RegExp;
  names: string[];
  methods: Map<string, string>;
  /** Characters that are no parameter: more of them is more specific. */
  literal: number;
  /** Words stand behind the identifier: `/ark:{NAAN}/{postfix}/download`. */
  suffix: boolean;
}

/** A template that a path fits, with the operation that the request's method asks for; `undefined` where it has no such method. */
export interface Match { operationId: string | undefined; params: Record<string, string>; suffix: boolean; methods: readonly string[] }
/** The most specific first. */
export type Matched = readonly Match[];

/** Methods of some templates, as the Allow header lists them. */
export function allowed(matched: Matched): string[] {
  const methods = new Set(matched.flatMap((match) => match.methods));
  if (methods.has("GET")) methods.add("HEAD");
  return [...methods].sort();
}

/** Parameters that take all that is left of the path, slashes included: the postfix of an ARK. */
const GREEDY = new Set(["postfix", "download_id"]);

/** `ark:`, the old `ark:/`, and the contract's pattern of identifiers: `ark` before the digits of a NAAN. */
const LABEL = "[Aa][Rr][Kk](?::/?|(?=[0-9]{5,}/))";

function compile(template: string, methods: Map<string, string>): Route {
  const names: string[] = [];
  const trimmed = template.length > 1 ? template.replace(/\/$/, "") : template;
  const source = trimmed.split(/(\{\w+\})/).map((part) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ark:$/, LABEL);
    names.push(name);
    return GREEDY.has(name) ? "(.+)" : "([^/]+)";
  });
  return {
    template, names, methods, pattern: new RegExp(`^${source.join("")}$`, "su"),
    literal: trimmed.replace(/\{\w+\}/g, "").length, suffix: /\{(?:postfix|download_id)\}\/./.test(trimmed),
  };
}

/**
 * Matches paths against the templates of an OpenAPI document. openapi-backend's own matcher builds its
 * expressions anew for every request; these are built once and kept by the first segment of the path.
 */
export class PathMatcher {
  private readonly byFirst = new Map<string, Route[]>();

  constructor(paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>) {
    for (const [template, item] of Object.entries(paths)) {
      const methods = new Map<string, string>();
      for (const [method, operation] of Object.entries(item)) {
        const id = (operation as { operationId?: string } | null)?.operationId;
        if (id !== undefined) methods.set(method.toUpperCase(), id);
      }
      const first = firstSegment(template);
      this.byFirst.set(first, [...(this.byFirst.get(first) ?? []), compile(template, methods)].sort((a, b) => b.literal - a.literal));
    }
  }

  /** Every template that fits. */
  match(method: string, path: string): Matched {
    const asked = method === "HEAD" ? "GET" : method;
    return (this.byFirst.get(firstSegment(path)) ?? []).flatMap(({ pattern, names, methods, suffix }): Match[] => {
      const found = pattern.exec(path);
      if (!found) return [];
      const params = Object.fromEntries(names.map((name, index) => [name, found[index + 1]!]));
      return [{ operationId: methods.get(asked), params, suffix, methods: [...methods.keys()] }];
    });
  }
}

/** `/ark:…` of any authority has one first segment. */
function firstSegment(path: string): string {
  const segment = path.split("/", 2)[1] ?? "";
  return /^ark(?::|[0-9]{5,}$)/i.test(segment) ? "ark:" : segment;
}
