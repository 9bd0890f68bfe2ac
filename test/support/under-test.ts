import type { RegistryClient } from "./registry-client.js";
import { RegistryProcess } from "./registry-process.js";
import { isCluster } from "./roles.js";
import { Topology } from "./topology.js";

/** The registry as seen by tests that only use HTTP. */
export interface RegistryUnderTest extends RegistryClient {
  readonly alive: boolean;
  /** The standard error of its nodes. */
  readonly log: string;
  /** Names of half-received uploads. */
  staging(): Promise<string[]>;
  stop(): Promise<void>;
}

/** One process, or with TEST_TOPOLOGY=cluster two nodes of each role over real servers. */
export const startRegistry = ({
  env = {},
}: { env?: Record<string, string> } = {}): Promise<RegistryUnderTest> =>
  isCluster ? Topology.start({ env }) : RegistryProcess.start({ env });
