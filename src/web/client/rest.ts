// The REST explorer: Swagger UI with the session of the reader, who takes the place of the user of the contract's
// examples.

interface Json {
  [name: string]: unknown;
}
interface Operation {
  operationId?: string;
  requestBody: {
    content: Record<string, { examples?: Record<string, { $ref: string } | object> }>;
  };
}
interface Contract {
  paths: Record<string, Record<string, Operation>>;
  components: { examples: Record<string, { value: Json }> };
}
interface SpecActions {
  updateUrl(url: string): void;
  updateLoadingStatus(status: string): void;
  updateSpec(text: string): void;
  updateJsonSpec(contract: Json): unknown;
}
interface System {
  specActions: SpecActions;
}
interface Token {
  access_token: string;
  token_type: string;
}
interface Ui {
  specActions: SpecActions;
  authSelectors: { authorized(): { size: number } };
  specSelectors: { securityDefinitions(): { get(name: string): unknown } | undefined };
  authActions: { authorizeOauth2(payload: object): void };
}
declare global {
  interface Window {
    SwaggerUIBundle(options: object): Ui;
    ui: Ui;
  }
}

const SCHEME = "OAuth2PasswordBearer";
const STORED = "arkgraph:authorization";
const EXAMPLE_USER = "ark:99999/user-ada";
const root = document.getElementById("swagger-ui")!;
const csrf = document.querySelector<HTMLMetaElement>("meta[name=csrf]")?.content;
/** The contract as it is served, and the user whose examples are shown. */
let contract: string;
let shown: string | undefined;

/** The user that a token was issued to. */
function userOf(token: string): string | undefined {
  try {
    const payload = atob(token.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(payload, (character) => character.charCodeAt(0));
    return (JSON.parse(new TextDecoder().decode(bytes)) as { sub?: string }).sub;
  } catch {
    return undefined;
  }
}

/** Examples as the user can send them: owned by the user, and creates without an identifier, which works once only. */
function contractFor(user: string | undefined): string {
  const document = JSON.parse(
    user ? contract.replaceAll(`"${EXAMPLE_USER}"`, JSON.stringify(user)) : contract,
  ) as Contract;
  for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item))) {
    if (!operation.operationId?.startsWith("create_")) continue;
    for (const content of Object.values(operation.requestBody.content)) {
      for (const [name, example] of Object.entries(content.examples ?? {})) {
        if (!("$ref" in example)) continue;
        const { "@id": _id, ...value } =
          document.components.examples[example.$ref.split("/").at(-1)!]!.value;
        content.examples![name] = { value };
      }
    }
  }
  return JSON.stringify(document);
}

function show(specActions: SpecActions, user: string | undefined): void {
  if (user === shown) return;
  shown = user;
  specActions.updateSpec(contractFor(user));
}

/** The part of the contract at a path, with its references in place: all lead to the contract itself. */
function resolved(spec: Json, path: readonly string[]): unknown {
  const step = (value: unknown, part: string): unknown => (value as Json | undefined)?.[part];
  const at = (pointer: string): unknown =>
    pointer
      .slice("#/".length)
      .split("/")
      .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce(step, spec);
  const open = new Set<string>();
  const expand = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(expand);
    if (typeof value !== "object" || value === null) return value;
    const { $ref } = value as { $ref?: unknown };
    if (typeof $ref === "string" && $ref.startsWith("#/")) {
      // A schema within itself stays a reference.
      if (open.has($ref)) return value;
      open.add($ref);
      const found = expand(at($ref));
      open.delete($ref);
      return typeof found === "object" && found !== null && !Array.isArray(found)
        ? { ...found, $$ref: `${location.origin}/openapi.json${$ref}` }
        : found;
    }
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, expand(part)]));
  };
  return expand(path.reduce(step, spec));
}

/**
 * Swagger UI reads the contract as YAML and refines all of it before it shows the first operation, which takes seconds;
 * ours is JSON without references to other documents.
 */
const quick = () => ({
  // The page has a heading of its own, and follows the colours of the system.
  wrapComponents: { InfoContainer: () => () => null, DarkModeToggle: () => () => null },
  fn: {
    resolveSubtree: async (spec: Json, path: readonly string[]) => ({
      spec: resolved(spec, path),
      errors: [],
    }),
  },
  statePlugins: {
    spec: {
      wrapActions: {
        parseToJson:
          (_original: unknown, { specActions }: System) =>
          (text: string) =>
            specActions.updateJsonSpec(JSON.parse(text) as Json),
      },
    },
  },
});

// The token alone, and for this tab: Swagger UI's own `persistAuthorization` stores the password too, for good.
const stored = () => JSON.parse(sessionStorage.getItem(STORED) ?? "null") as Token | null;

const signedIn = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        authorizeOauth2:
          (original: (payload: { token: Token }) => unknown, { specActions }: System) =>
          (payload: { token: Token }) => {
            const { access_token, token_type } = payload.token;
            sessionStorage.setItem(STORED, JSON.stringify({ access_token, token_type }));
            const result = original(payload);
            show(specActions, userOf(access_token));
            return result;
          },
        logout:
          (original: (payload: unknown) => unknown, { specActions }: System) =>
          (payload: unknown) => {
            sessionStorage.removeItem(STORED);
            const result = original(payload);
            show(specActions, root.dataset["user"]);
            return result;
          },
      },
    },
  },
});

interface Sent {
  url: string;
  headers: Record<string, string>;
}

/** With a token the request is of its user; without, of the session, whose page must be shown to be ours. */
function withSession(request: Sent): Sent {
  const has = Object.keys(request.headers).some((name) => name.toLowerCase() === "authorization");
  if (csrf !== undefined && !has && new URL(request.url, location.href).origin === location.origin)
    request.headers["X-CSRF-Token"] = csrf;
  return request;
}

function followColours(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const set = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", set);
  set();
}

function loadScript(src: string): Promise<unknown> {
  const script = Object.assign(document.createElement("script"), { src });
  document.head.append(script);
  return new Promise((resolve, reject) => {
    script.addEventListener("load", resolve);
    script.addEventListener("error", reject);
  });
}

/** The page has a main part; Swagger UI draws another one within it. */
function haveOneMain(): void {
  const observer = new MutationObserver(() => {
    const inner = root.querySelector("main");
    if (!inner) return;
    inner.setAttribute("role", "group");
    observer.disconnect();
  });
  observer.observe(root, { childList: true, subtree: true });
}

async function start(): Promise<void> {
  followColours();
  haveOneMain();
  const loading = loadScript(root.dataset["bundle"]!);
  contract = await (await fetch("/openapi.json")).text();
  await loading;
  const token = stored();
  shown = token ? userOf(token.access_token) : root.dataset["user"];
  window.ui = window.SwaggerUIBundle({
    domNode: root,
    deepLinking: true,
    docExpansion: "none",
    tryItOutEnabled: true,
    validatorUrl: null,
    defaultModelsExpandDepth: 0,
    plugins: [quick, signedIn],
    requestInterceptor: withSession,
    onComplete: () => {
      document.getElementById("operation-list")!.hidden = true;
      const kept = stored();
      if (!kept || window.ui.authSelectors.authorized().size > 0) return;
      const schema = window.ui.specSelectors.securityDefinitions()?.get(SCHEME);
      if (schema)
        window.ui.authActions.authorizeOauth2({ auth: { name: SCHEME, schema }, token: kept });
    },
  });
  const { specActions } = window.ui;
  specActions.updateUrl(`${location.origin}/openapi.json`);
  specActions.updateLoadingStatus("success");
  specActions.updateSpec(contractFor(shown));
}

void start();
