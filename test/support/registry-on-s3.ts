import { objectsOf, openRecords } from "../../src/app/open-stores.js";
import { readConfig } from "../../src/config/config.js";
import type { Deps } from "../../src/services/deps.js";
import { openObjects } from "../../src/storage/objects/location.js";
import { FaultProxy } from "./fault-proxy.js";
import { LiveRegistry } from "./live-registry.js";
import type { RegistryClient } from "./registry-client.js";
import { RegistryProcess } from "./registry-process.js";
import { isCluster, type Role } from "./roles.js";
import { newBucket } from "./servers/s3-makes.js";
import type { S3Server } from "./servers/s3-server.js";
import { Topology } from "./topology.js";

type Settings = Readonly<Record<string, string>>;
export interface Stoppable extends RegistryClient {
  stop(): Promise<void>;
}

/** A registry with a proxy before its S3 server; tests can read its stores while it answers. */
export interface RegistryOnS3 {
  readonly registry: RegistryClient;
  readonly server: S3Server;
  readonly bucket: string;
  /** All requests of the registry's processes to the server go through it. */
  readonly proxy: FaultProxy;
  readonly stores: Pick<Deps, "objects" | "records">;
  /** Settings of a process in this role, with others in place of some. */
  settings(role: Role, more?: Settings): Record<string, string>;
  /** Another process that takes requests, over the same bucket. */
  another(more: Settings): Promise<Stoppable>;
  stop(): Promise<void>;
}

const locationOf = (
  { accessKey, secretKey, region }: S3Server,
  endpoint: string,
  bucket: string,
): Settings => ({
  S3_ENDPOINT: endpoint,
  S3_ACCESS_KEY: accessKey,
  S3_SECRET_KEY: secretKey,
  S3_REGION: region,
  S3_BUCKET: bucket,
});

/**
 * One registry in this process, or with TEST_TOPOLOGY=cluster two nodes of each role.
 * @param start the S3 server
 * @param env the same for all of it
 */
export const startOnS3 = (start: () => Promise<S3Server>, env: Settings): Promise<RegistryOnS3> =>
  isCluster ? clusterOnS3(env) : oneOnS3(start, env);

async function oneOnS3(start: () => Promise<S3Server>, env: Settings): Promise<RegistryOnS3> {
  const server = await start();
  const proxy = await FaultProxy.start(server.endpoint);
  const { bucket } = await newBucket(server);
  const settings = (_role: Role, more: Settings = {}) => ({
    ...locationOf(server, proxy.url, bucket),
    ...env,
    ...more,
  });
  const registry = await LiveRegistry.start(settings("all"));
  return {
    registry,
    server,
    bucket,
    proxy,
    settings,
    stores: registry.deps,
    another: (more) => LiveRegistry.start(settings("all", more)),
    async stop() {
      await registry.stop();
      await proxy.goAway();
      await server.stop();
    },
  };
}

async function clusterOnS3(env: Settings): Promise<RegistryOnS3> {
  let proxy!: FaultProxy;
  const cluster = await Topology.start({
    async env({ s3, location: { bucket } }) {
      proxy = await FaultProxy.start(s3.endpoint);
      return { ...locationOf(s3, proxy.url, bucket), ...env };
    },
  });
  const {
    s3: server,
    location: { bucket },
    env: shared,
  } = cluster.servers;
  const settings = (role: Role, more: Settings = {}) => ({
    ...shared,
    ROLE: role,
    BASE_URL: cluster.url,
    ...locationOf(server, proxy.url, bucket),
    ...env,
    ...more,
  });
  const config = readConfig(settings("api"));
  const records = await openRecords(config, () => undefined);
  return {
    registry: cluster,
    server,
    bucket,
    proxy,
    settings,
    stores: { records, objects: await openObjects(objectsOf(config)) },
    another: (more) => RegistryProcess.start({ env: settings("api", more) }),
    async stop() {
      await records.close();
      await cluster.stop();
      await proxy.goAway();
    },
  };
}
