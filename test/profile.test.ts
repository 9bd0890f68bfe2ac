import { describe, expect, it } from "vitest";
import { readConfig } from "../src/config/config.js";
import { checkProfile } from "../src/app/service.js";

const CLUSTER = {
  PROFILE: "cluster",
  DATABASE_URL: "postgres://arkgraph@db/arkgraph",
  REDIS_URL: "redis://redis:6379",
  JWT_SECRET: "0123456789abcdefghijklmnopqrstuvwxyz",
  S3_ENDPOINT: "http://s3:9000",
  S3_ACCESS_KEY: "a",
  S3_SECRET_KEY: "s",
  S3_BUCKET: "arkgraph",
  SPARQL_QUERY_URL: "http://index:7878/query",
  SPARQL_UPDATE_URL: "http://index:7878/update",
};
const check = (env: Record<string, string>) => () => checkProfile(readConfig(env));

describe("A profile", () => {
  it("is one process with all data, or with its files in S3 or its graph on an endpoint", () => {
    const {
      S3_ENDPOINT,
      S3_ACCESS_KEY,
      S3_SECRET_KEY,
      S3_BUCKET,
      SPARQL_QUERY_URL,
      SPARQL_UPDATE_URL,
    } = CLUSTER;
    for (const env of [
      {},
      { S3_ENDPOINT, S3_ACCESS_KEY, S3_SECRET_KEY, S3_BUCKET },
      { SPARQL_QUERY_URL, SPARQL_UPDATE_URL },
    ] as Record<string, string>[])
      expect(check(env)).not.toThrow();
  });

  it("is a cluster when every shared store is configured", () => {
    expect(check(CLUSTER)).not.toThrow();
    expect(check({ ...CLUSTER, ROLE: "worker" })).not.toThrow();
    for (const name of Object.keys(CLUSTER).filter((each) => each !== "PROFILE"))
      expect(check({ ...CLUSTER, [name]: "" }), name).toThrow(name);
    expect(check({ PROFILE: "cluster" })).toThrow(
      "not set: DATABASE_URL, REDIS_URL, S3_ENDPOINT, S3_ACCESS_KEY, S3_SECRET_KEY, " +
        "S3_BUCKET, SPARQL_QUERY_URL, SPARQL_UPDATE_URL, JWT_SECRET",
    );
  });

  it("refuses a mixture of both, and says what to change", () => {
    for (const name of ["DATABASE_URL", "REDIS_URL"] as const)
      expect(check({ [name]: CLUSTER[name] })).toThrow(`set PROFILE=cluster, or unset ${name}`);
    expect(check({ ROLE: "api" })).toThrow(
      "ROLE=api is for a node of a cluster: set PROFILE=cluster, or unset ROLE",
    );
    expect(() => readConfig({ PROFILE: "both" })).toThrow("one of single, cluster");
  });
});
