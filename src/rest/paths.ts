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

export interface Match { operationId: string; params: Record<string, string>; suffix: boolean }
export type Matched = { matches: Match[]; allow: string[] };

/** Parameters that take all that is left of the path, slashes included: the postfix of an ARK. */
const GREEDY = new Set(["postfix", "download_id"]);

function compile(template: string, methods: Map<string, string>): Route {
  const names: string[] = [];
  const trimmed = template.length > 1 ? template.replace(/\/$/, "") : template;
  const source = trimmed.split(/(\{\w+\})/).map((part) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ark:$/, "[Aa][Rr][Kk]:/?");
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

  /** Every operation that fits, the most specific first, and the methods the path has. */
  match(method: string, path: string): Matched {
    const matches: Match[] = [];
    const allow = new Set<string>();
    for (const route of this.byFirst.get(firstSegment(path)) ?? []) {
      const found = route.pattern.exec(path);
      if (!found) continue;
      for (const name of route.methods.keys()) allow.add(name);
      const operationId = route.methods.get(method === "HEAD" ? "GET" : method);
      if (operationId === undefined) continue;
      matches.push({ operationId, suffix: route.suffix, params: Object.fromEntries(route.names.map((name, index) => [name, found[index + 1]!])) });
    }
    if (allow.has("GET")) allow.add("HEAD");
    return { matches, allow: [...allow].sort() };
  }
}

/** `/ark:…` of any authority has one first segment. */
function firstSegment(path: string): string {
  const segment = path.split("/", 2)[1] ?? "";
  return /^ark:/i.test(segment) ? "ark:" : segment;
}
