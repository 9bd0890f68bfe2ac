/** Generates load on request: its event loop is neither the server's nor that of the bench. */
import autocannon from "autocannon";
import type { Load, LoadResult } from "./load.js";

process.on("message", (load: Load) => {
  run(load).then(
    (result) => process.send!({ result }),
    (error: Error) => process.send!({ error: error.message }),
  );
});
process.on("disconnect", () => process.exit());

async function run({
  url,
  connections,
  seconds,
  method = "GET",
  headers = {},
  body,
  paths,
}: Load): Promise<LoadResult> {
  let clients = 0;
  const share = paths && Math.ceil(paths.length / connections);
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    sampleInt: 50,
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    // Each connection asks for keys of its own, made into requests before the clock starts.
    ...(paths
      ? {
          setupClient: (client) =>
            client.setRequests(
              paths.slice(clients * share!, ++clients * share!).map((path) => ({ path })),
            ),
        }
      : {}),
  });
  const { "2xx": done, non2xx, errors, timeouts, duration } = result;
  return { perSecond: done / duration, done, failed: non2xx + errors + timeouts };
}
