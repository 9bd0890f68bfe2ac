// Imported by a registry under test (NODE_OPTIONS): a request with the header x-fault has a fault of that kind.
import { subscribe } from "node:diagnostics_channel";

const fault = (kind) => new Error(`a fault of the kind ${kind}`);
const throws = (kind) => () => {
  throw fault(kind);
};
subscribe("http.server.request.start", ({ request, response }) => {
  const kind = request.headers["x-fault"];
  if (kind === "data" || kind === "end") request.once(kind, throws(kind));
  if (kind === "finish") response.once(kind, throws(kind));
  if (kind === "timer") setTimeout(throws(kind), 1);
  if (kind === "rejection") void Promise.reject(Object.assign(fault(kind), { password: "secret" }));
});
