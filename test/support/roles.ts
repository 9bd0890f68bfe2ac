/**
 * Whether tests of a whole registry run on two nodes of each role over real servers, or on one
 * process.
 */
export const isCluster = process.env["TEST_TOPOLOGY"] === "cluster";
/**
 * What the processes of a registry do: the one there is everything, or those of a cluster each its
 * part.
 */
export const ROLES: readonly ("all" | "api" | "worker")[] = isCluster ? ["api", "worker"] : ["all"];
export type Role = (typeof ROLES)[number];
