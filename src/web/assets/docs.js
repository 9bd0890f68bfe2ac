// The explorer, with the signed-in user in the place of the user of the contract's examples.
const SCHEME = "OAuth2PasswordBearer";
const STORED = "arkgraph:authorization";
const EXAMPLE_USER = "ark:99999/user-ada";
/** The contract as it is served, and the user whose examples are shown. */
let contract;
let shown;

/** The user that a token was issued to. */
function userOf(token) {
  try {
    const payload = atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(payload, (character) => character.charCodeAt(0)))).sub;
  } catch {
    return undefined;
  }
}

/** Examples as the user can send them: owned by the user, and creates without an identifier, which works once only. */
function contractFor(user) {
  const document = JSON.parse(user ? contract.replaceAll(`"${EXAMPLE_USER}"`, JSON.stringify(user)) : contract);
  for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item))) {
    if (!operation.operationId?.startsWith("create_")) continue;
    for (const content of Object.values(operation.requestBody.content)) {
      for (const [name, { $ref }] of Object.entries(content.examples ?? {})) {
        const { "@id": _id, ...value } = document.components.examples[$ref.split("/").at(-1)].value;
        content.examples[name] = { value };
      }
    }
  }
  return JSON.stringify(document);
}

function show(specActions, user) {
  if (user === shown) return;
  shown = user;
  specActions.updateSpec(contractFor(user));
}

// The token alone, and for this tab: Swagger UI's own `persistAuthorization` stores the password too, for good.
const stored = () => JSON.parse(sessionStorage.getItem(STORED) ?? "null");

const signedIn = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        authorizeOauth2: (original, { specActions }) => (payload) => {
          const { token: { access_token, token_type } } = payload;
          sessionStorage.setItem(STORED, JSON.stringify({ access_token, token_type }));
          const result = original(payload);
          show(specActions, userOf(access_token));
          return result;
        },
        logout: (original, { specActions }) => (payload) => {
          sessionStorage.removeItem(STORED);
          const result = original(payload);
          show(specActions, undefined);
          return result;
        },
      },
    },
  },
});

window.ui = SwaggerUIBundle({
  url: "/openapi.json", dom_id: "#swagger-ui", deepLinking: true, docExpansion: "none", tryItOutEnabled: true, validatorUrl: null,
  defaultModelsExpandDepth: 0, plugins: [signedIn],
  responseInterceptor: (response) => {
    if (new URL(response.url, location.href).pathname !== "/openapi.json" || !response.ok) return response;
    contract = response.text;
    const token = stored();
    shown = token ? userOf(token.access_token) : undefined;
    return { ...response, text: contractFor(shown) };
  },
  // Called for every contract that is shown.
  onComplete: () => {
    const token = stored();
    if (!token || window.ui.authSelectors.authorized().size > 0) return;
    const schema = window.ui.specSelectors.securityDefinitions()?.get(SCHEME);
    if (schema) window.ui.authActions.authorizeOauth2({ auth: { name: SCHEME, schema }, token });
  },
});
