const EXAMPLE = `# The newest crates, and what is in them.
{
  roCrates(first: 5, filter: { order: "-created" }) {
    nodes { id name modifiedAt hasPart(first: 10) { nodes { id kind name } } }
  }
}
`;

// Kept in this page only: a token in the browser's storage would be there for whoever uses it next.
const token = document.getElementById("token");

function headersOf(accept, given) {
  const typed = token.value.trim();
  return { "Content-Type": "application/json", Accept: accept, ...(typed ? { Authorization: `Bearer ${typed}` } : {}), ...given };
}

function isSubscription({ operationName }, document) {
  const operations = (document?.definitions ?? []).filter(({ kind }) => kind === "OperationDefinition");
  const operation = operationName ? operations.find(({ name }) => name?.value === operationName) : operations[0];
  return operation?.operation === "subscription";
}

async function ask(params, headers) {
  const response = await fetch("/graphql", { method: "POST", headers: headersOf("application/graphql-response+json, application/json", headers), body: JSON.stringify(params) });
  return response.json();
}

/** Answers of GraphQL over server-sent events, as they come. */
async function* follow(params, headers) {
  const leave = new AbortController();
  try {
    const response = await fetch("/graphql/stream", { method: "POST", signal: leave.signal, headers: headersOf("text/event-stream", headers), body: JSON.stringify(params) });
    if (!response.ok) return yield await response.json();
    let text = "";
    for (const reader = response.body.pipeThrough(new TextDecoderStream()).getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const lines = text.slice(0, end).split("\n");
        text = text.slice(end + 2);
        if (lines.includes("event: complete")) return;
        const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\n");
        if (lines.includes("event: next")) yield JSON.parse(data);
      }
    }
  } finally {
    leave.abort();
  }
}

const fetcher = (params, { documentAST, headers } = {}) => (isSubscription(params, documentAST) ? follow(params, headers) : ask(params, headers));
ReactDOM.createRoot(document.getElementById("explorer")).render(React.createElement(GraphiQL, { fetcher, defaultQuery: EXAMPLE, shouldPersistHeaders: false }));
