/** Settings by the names in docs/settings.md; the environment of the process is not read. */
export type Settings = Readonly<Record<string, string | undefined>>;

/** A registry that answers requests. */
export interface Registry {
  /** Address without a slash at the end. */
  url: string;
  /** One-time token of the first administrator; only at the first start on a data folder. */
  adminToken: string | undefined;
  /** Lets running requests end, and closes the data folder. */
  stop(): Promise<void>;
}

/**
 * Starts a registry in this process.
 * @example
 * const registry = await start({ DATA_DIR: "./data", PORT: "0" });
 * console.log((await fetch(`${registry.url}/healthz`)).status);
 * await registry.stop();
 */
export function start(settings?: Settings): Promise<Registry>;
