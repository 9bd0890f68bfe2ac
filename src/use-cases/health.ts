import type { Deps } from "./deps.js";

export interface Health {
  status: "healthy" | "unhealthy";
  checks: { records: string; index: string; objects: string; jobs: string };
}

const ok = (check: Promise<void>): Promise<string> => check.then(() => "ok", (error: Error) => `failed: ${error.message}`);

/** Asks every store whether it works. A loading index is healthy: records are served meanwhile. */
export async function health({ records, queries, objects, jobs }: Deps): Promise<Health> {
  const loading = queries.state().state === "loading";
  const [recordsCheck, index, objectsCheck, jobsCheck] = await Promise.all([ok(records.health()), loading ? "loading" : ok(queries.health()), ok(objects.health()), ok(jobs.health())]);
  const checks = { records: recordsCheck, index, objects: objectsCheck, jobs: jobsCheck };
  return { status: Object.values(checks).every((check) => check === "ok" || check === "loading") ? "healthy" : "unhealthy", checks };
}
