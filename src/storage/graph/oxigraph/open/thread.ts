/** The thread for users' queries: like the service's own. */

// All of it before the graph: the time of a query is its own.
await import("./answer.js");
await import("../thread.js");
