import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { EngineAddress } from "./client.js";

/**
 * Where CONTAINER_HOST points.
 * @param certificates folder with `ca.pem`, `cert.pem` and `key.pem`, as Docker's own clients have it
 */
export async function engineAddress(host: string, certificates: string | null): Promise<EngineAddress> {
  if (host.startsWith("unix://")) return { socketPath: host.slice("unix://".length) };
  const url = new URL(host.replace(/^tcp:/, certificates === null ? "http:" : "https:"));
  const secure = url.protocol === "https:";
  const where = { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || (secure ? 2376 : 2375)) };
  if (!secure) return where;
  if (certificates === null) return { ...where, tls: {} };
  const [ca, cert, key] = await Promise.all(["ca.pem", "cert.pem", "key.pem"].map((name) => readFile(join(certificates, name))));
  return { ...where, tls: { ca: ca!, cert: cert!, key: key! } };
}
