/**
 * Whether tests of a whole registry run on two nodes of each role over real servers, or on one
 * process.
 */
export const isCluster = process.env["TEST_TOPOLOGY"] === "cluster";
/** The roles of a registry's processes: a single process has all, in a cluster each has its own. */
export const ROLES: readonly ("all" | "api" | "worker")[] = isCluster ? ["api", "worker"] : ["all"];
export type Role = (typeof ROLES)[number];
