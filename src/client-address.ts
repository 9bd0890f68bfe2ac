import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** Tells whose request it is, by address; the empty string when the connection is gone. */
export type ClientAddress = (req: IncomingMessage) => string;

/** Proxies in front of a registry are few; who writes more names wants to make work. */
const MOST_HOPS = 20;

/**
 * The address a request came from: that of the connection or, behind proxies that are trusted, what the last of
 * them saw. `X-Forwarded-For` is read from its end, and only as far as each writer is trusted: what a client wrote
 * itself is never believed.
 * @param trusted TRUSTED_PROXIES: addresses and networks with commas, or null for none
 */
export function clientAddress(trusted: string | null): ClientAddress {
  if (trusted === null) return (req) => plain(req.socket.remoteAddress ?? "");
  const proxies = blockList(trusted);
  const isProxy = (address: string) => proxies.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  return (req) => {
    let address = plain(req.socket.remoteAddress ?? "");
    const header = req.headers["x-forwarded-for"];
    const hops = (typeof header === "string" ? header : (header ?? []).join(",")).split(",").slice(-MOST_HOPS);
    while (isIP(address) !== 0 && isProxy(address) && hops.length > 0) {
      const before = withoutPort(hops.pop()!.trim());
      // A proxy that knows no address writes "unknown", or nothing.
      if (isIP(before) === 0) break;
      address = plain(before);
    }
    return address;
  };
}

/** @throws Error for what is no address and no network, in words that follow "it takes" */
export function blockList(trusted: string): BlockList {
  const list = new BlockList();
  for (const entry of trusted.split(",").map((part) => part.trim())) {
    const [address = "", bits, ...more] = entry.split("/");
    const family = isIP(address);
    const most = family === 6 ? 128 : 32;
    if (family === 0 || more.length > 0 || (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > most))) {
      throw new Error("IP addresses and networks such as 10.0.0.0/8 or fd00::/8, with commas");
    }
    list.addSubnet(address, bits === undefined ? most : Number(bits), family === 6 ? "ipv6" : "ipv4");
  }
  return list;
}

/** An IPv4 address that came over a socket of IPv6 is the same one. */
function plain(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** Some proxies write the port as well: 192.0.2.1:4711, [2001:db8::1]:4711. */
function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop;
}
