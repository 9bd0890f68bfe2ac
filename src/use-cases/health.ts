import type { Deps, Log } from "./deps.js";

export interface Health {
  status: "healthy" | "unhealthy";
  checks: { records: string; index: string; objects: string; jobs: string };
}

/** What went wrong is for the log: it may name folders and hosts. */
const ok = (check: Promise<void>, name: string, log: Log): Promise<string> => check.then(() => "ok", (err: Error) => {
  log.error({ err, check: name }, "a store does not work");
  return "failed";
});

/** Asks every store whether it works. A loading index is healthy: records are served meanwhile. */
export async function health({ records, queries, objects, jobs, log }: Deps): Promise<Health> {
  const loading = queries.state().state === "loading";
  const [recordsCheck, index, objectsCheck, jobsCheck] = await Promise.all([
    ok(records.health(), "records", log), ok(queries.health(), "index", log).then((check) => (loading && check === "ok" ? "loading" : check)), ok(objects.health(), "objects", log), ok(jobs.health(), "jobs", log),
  ]);
  const checks = { records: recordsCheck, index, objects: objectsCheck, jobs: jobsCheck };
  return { status: Object.values(checks).every((check) => check === "ok" || check === "loading") ? "healthy" : "unhealthy", checks };
}
