import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { LRUCache } from "lru-cache";

/** The client's address; the empty string when the connection is gone. */
export type ClientAddress = (req: IncomingMessage) => string;

/** Proxies in front of a registry are few; a longer list is an attempt to cause work. */
const MAX_HOPS = 20;

/**
 * The address a request came from: that of the connection or, behind trusted proxies, the address
 * that the last of them saw. `X-Forwarded-For` is read from its end, and only as far as each writer
 * is trusted: what a client wrote itself is never believed.
 * @param trusted TRUSTED_PROXIES: addresses and networks with commas, or null for none
 */
export function clientAddress(trusted: string | null): ClientAddress {
  if (trusted === null) return (req) => plainAddress(req.socket.remoteAddress ?? "");
  const isProxy = listedIn(blockList(trusted));
  return (req) => {
    let address = plainAddress(req.socket.remoteAddress ?? "");
    const header = req.headers["x-forwarded-for"];
    const hops = (typeof header === "string" ? header : (header ?? []).join(","))
      .split(",")
      .slice(-MAX_HOPS);
    for (const hop of hops.toReversed()) {
      if (isIP(address) === 0 || !isProxy(address)) break;
      const before = withoutPort(hop.trim());
      // A proxy that knows no address writes "unknown", or nothing.
      if (isIP(before) === 0) break;
      address = plainAddress(before);
    }
    return address;
  };
}

/**
 * Addresses that no outside client has: hosts, private and local networks, and carriers' own (RFC
 * 6890).
 */
const INNER =
  "0.0.0.0/8,10.0.0.0/8,100.64.0.0/10,127.0.0.0/8,169.254.0.0/16,172.16.0.0/12,192.168.0.0/16," +
  "::1,::,fc00::/7,fe80::/10";
const FORWARDED = ["x-forwarded-for", "forwarded", "via", "x-real-ip"];

/**
 * Whether an address that {@link clientAddress} found belongs to one client, so that limits per
 * address may apply to it. With trusted proxies configured: any address that is not one of these
 * proxies. Without: a public address in a request that shows no sign of a proxy; a private address
 * may be that of a proxy which all clients share.
 * @param trusted TRUSTED_PROXIES
 */
export function ownsAddress(
  trusted: string | null,
): (req: IncomingMessage, address: string) => boolean {
  const isOther = listedIn(blockList(trusted ?? INNER));
  return (req, address) => {
    if (isIP(address) === 0 || isOther(address)) return false;
    return trusted !== null || FORWARDED.every((name) => req.headers[name] === undefined);
  };
}

/** Addresses whose place in a list is remembered; less than 100 bytes each. */
const MAX_KNOWN = 10_000;

/** Clients send many requests, and looking an address up takes as long as parsing a small one. */
function listedIn(list: BlockList): (address: string) => boolean {
  const known = new LRUCache<string, boolean>({ max: MAX_KNOWN });
  return (address) => {
    let isListed = known.get(address);
    if (isListed === undefined) {
      isListed = list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
      known.set(address, isListed);
    }
    return isListed;
  };
}

/**
 * @throws Error when an entry is neither an address nor a network, in words that follow "it takes"
 */
export function blockList(trusted: string): BlockList {
  const list = new BlockList();
  for (const entry of trusted.split(",").map((part) => part.trim())) {
    const [address = "", bits, ...more] = entry.split("/");
    const family = isIP(address);
    const most = family === 6 ? 128 : 32;
    if (
      family === 0 ||
      more.length > 0 ||
      (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > most))
    ) {
      throw new Error("IP addresses and networks such as 10.0.0.0/8 or fd00::/8, with commas");
    }
    list.addSubnet(
      address,
      bits === undefined ? most : Number(bits),
      family === 6 ? "ipv6" : "ipv4",
    );
  }
  return list;
}

/** An IPv4 address of an IPv6 socket is the same address. */
export function plainAddress(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** Some proxies write the port as well: 192.0.2.1:4711, [2001:db8::1]:4711. */
function withoutPort(hop: string): string {
  return (
    /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop
  );
}

/**
 * A key for what is probably one client: an IPv4 address, or the 64 bits of an IPv6 address that a
 * provider assigns to one customer.
 */
export function networkOf(address: string): string {
  // An IPv4 address within an IPv6 address is used as the IPv4 address.
  if (isIP(address) !== 6 || address.includes(".")) return address;
  const [head = "", tail] = address.replace(/%.*/s, "").split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups =
    tail === undefined
      ? before
      : [
          ...before,
          ...Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0"),
          ...after,
        ];
  return groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ""))
    .join(":");
}

/**
 * Request ids accepted from a proxy: enough for a UUID or a trace, and nothing that would break a
 * log line.
 */
const ACCEPTED = /^[\w.:=+/-]{1,128}$/;

/**
 * The name of a request in answers and logs: the value of `X-Request-Id`, or a new one; the same on
 * each call.
 */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const sent = headers["x-request-id"];
  const id = typeof sent === "string" && ACCEPTED.test(sent) ? sent : randomUUID();
  return (headers["x-request-id"] = id);
}
