import { randomUUID } from "node:crypto";
import { ConfigError, type Config } from "../config.js";
import type { ContainerEngine } from "../containers/port.js";
import type { RecordStore } from "../stores/records/port.js";

/** The name of this registry among all that use one engine, made once and kept with the truth. */
const REGISTRY = "container-registry-name";

/**
 * What runs computations; `undefined` where CONTAINER_HOST is not set. It is not asked anything yet: an engine that is away must not
 * keep the registry from starting.
 * @throws ConfigError when CONTAINER_CERTS cannot be read
 */
export async function containersOf({ CONTAINER_HOST: host, CONTAINER_CERTS, CONTAINER_TIMEOUT: timeout, ROLE }: Config, records: RecordStore): Promise<ContainerEngine | undefined> {
  if (host === null) return undefined;
  const [{ engineAddress }, { DockerClient }, { DockerEngine }] = await Promise.all([import("../containers/docker/address.js"), import("../containers/docker/client.js"), import("../containers/docker/engine.js")]);
  // A node that only answers requests knows that there is one, and leaves it to others.
  const certificates = ROLE === "api" ? null : CONTAINER_CERTS;
  const address = await engineAddress(host, certificates).catch((error: Error) => {
    throw new ConfigError(`CONTAINER_CERTS cannot be used: ${error.message}`);
  });
  const name = (await records.setSetting(REGISTRY, randomUUID(), { ifAbsent: true }))!;
  return new DockerEngine(new DockerClient(address, timeout), name);
}
