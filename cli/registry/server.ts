import { isIPv4 } from "node:net";
import { Failure } from "../failure.js";

/** Where `npm start` listens. */
export const DEFAULT_SERVER = "http://127.0.0.1:8080";

/** The address of a registry as it is kept: without a slash at the end. @throws Failure */
export function serverAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol)) throw new Failure(`${text} is not the address of a registry: write http://… or https://…`);
  if (url.username !== "" || url.password !== "") throw new Failure("the address of a registry holds no user name or password: leave them out, and run arkgraph login");
  if (url.search !== "" || url.hash !== "") throw new Failure(`${text} is not the address of a registry: leave out what begins with ? or #`);
  return url.href.replace(/\/+$/, "");
}

/** True when what is sent there does not leave this machine, or is encrypted. */
export function isPrivate(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."));
}
