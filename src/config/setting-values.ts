import { isIP } from "node:net";
import { blockList } from "./client.js";

/**
 * Reads the text of a setting: a value of one kind. Sizes read `10`, `512K`, `5 GiB` (bytes);
 * durations `250ms`, `30s`, `24h` (ms).
 * @throws Error whose message describes the valid values
 */
export type Reader<T> = (raw: string) => T;

const SIZES: Record<string, number> = {
  "": 1,
  B: 1,
  K: 2 ** 10,
  KIB: 2 ** 10,
  M: 2 ** 20,
  MIB: 2 ** 20,
  G: 2 ** 30,
  GIB: 2 ** 30,
  T: 2 ** 40,
  TIB: 2 ** 40,
};
const TIMES: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export const size: Reader<number> = (raw) => {
  const [, amount, name] = /^(\d+(?:\.\d+)?)\s*([A-Za-z]*)$/.exec(raw) ?? [];
  const unit = name === undefined ? undefined : SIZES[name.toUpperCase()];
  if (!unit) throw new Error("a size such as 1048576, 512K or 5GiB");
  return Math.floor(Number(amount) * unit);
};
export const sizeOrOff: Reader<number> = (raw) => {
  if (raw === "off") return 0;
  try {
    return sizeFrom(1024, "1K")(raw);
  } catch {
    throw new Error("a size of 1K or more such as 512K or 5MiB, or off");
  }
};
export const sizeFrom =
  (least: number, shown: string): Reader<number> =>
  (raw) => {
    if (size(raw) < least) throw new Error(`a size of ${shown} or more`);
    return size(raw);
  };
export const duration: Reader<number> = (raw) => {
  const [, amount, name] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(raw) ?? [];
  const unit = name === undefined ? undefined : TIMES[name];
  if (!unit) throw new Error("a duration such as 500ms, 30s, 10m or 24h");
  return Math.round(Number(amount) * unit);
};
export const durationFrom =
  (least: number, shown: string): Reader<number> =>
  (raw) => {
    if (duration(raw) < least) throw new Error(`a duration of ${shown} or more`);
    return duration(raw);
  };
export const whole =
  (from: number, to: number): Reader<number> =>
  (raw) => {
    const value = Number(raw);
    if (!/^\d+$/.test(raw) || value < from || value > to)
      throw new Error(`a whole number from ${from} to ${to}`);
    return value;
  };
export const oneOf =
  <const T extends string>(...values: T[]): Reader<T> =>
  (raw) => {
    if (!values.includes(raw as T)) throw new Error(`one of ${values.join(", ")}`);
    return raw as T;
  };
/** An issuer of OpenID Connect, as its operator and ours agreed. */
export interface IssuerSettings {
  /** In addresses: `orcid`. */
  readonly name: string;
  /** For people: `ORCID`. */
  readonly label: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What is asked for, `openid` among them. */
  readonly scope: string;
  /** Origins of endpoints that are not at the issuer's. */
  readonly origins: readonly string[];
  /** People without an account here may make one, also with REGISTRATION=admin. */
  readonly register: boolean;
  /** Name of the claim that lists groups. */
  readonly groupsClaim: string;
  /** ARK of a group here by its name in that claim. */
  readonly groups: Readonly<Record<string, string>>;
}

const LOOPBACK = /^http:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?(?:\/|$)/;
const text = (value: unknown): value is string => typeof value === "string" && value !== "";

const isIssuerAddress = (address: string): boolean =>
  URL.canParse(address) && (address.startsWith("https://") || LOOPBACK.test(address));
const isGroups = (groups: unknown): boolean =>
  typeof groups === "object" && groups !== null && Object.values(groups).every(text);

/** @returns undefined where it is none */
function issuerOf(given: Partial<IssuerSettings> | null): IssuerSettings | undefined {
  const { name = "", issuer = "", clientId = "", clientSecret = "" } = given ?? {};
  const { scope = "openid", groupsClaim = "groups", label = name } = given ?? {};
  const { origins: others = [], register = true, groups = {} } = given ?? {};
  const isSound =
    [name, label, issuer, clientId, clientSecret, scope, groupsClaim].every(text) &&
    /^[a-z0-9-]{1,40}$/.test(name) &&
    isIssuerAddress(issuer) &&
    [Array.isArray(others), typeof register === "boolean", isGroups(groups)].every(Boolean);
  if (!isSound) return undefined;
  return {
    name,
    label,
    issuer,
    clientId,
    clientSecret,
    scope: scope.split(" ").includes("openid") ? scope : `openid ${scope}`,
    origins: others.map((one) => origin(one)),
    register,
    groupsClaim,
    groups,
  };
}

export const issuers: Reader<readonly IssuerSettings[]> = (raw) => {
  const wrong = new Error(
    'a JSON list such as [{"name":"orcid","label":"ORCID","issuer":"https://orcid.org",' +
      '"clientId":"…","clientSecret":"…"}], with other addresses than https on loopback only',
  );
  let list: unknown;
  try {
    list = JSON.parse(raw);
  } catch {
    throw wrong;
  }
  if (!Array.isArray(list)) throw wrong;
  const read = list.map(issuerOf).filter((one) => one !== undefined);
  const names = new Set(read.map(({ name }) => name));
  if (read.length < list.length || names.size < read.length) throw wrong;
  return read;
};
export const matching =
  (pattern: RegExp, what: string): Reader<string> =>
  (raw) => {
    if (!pattern.test(raw)) throw new Error(what);
    return raw;
  };
export const url: Reader<string> = (raw) => {
  if (!/^https?:\/\//.test(raw) || !URL.canParse(raw)) throw new Error("an http or https URL");
  return raw.replace(/\/+$/, "");
};
/** An address to which paths are appended. */
export const baseUrl: Reader<string> = (raw) => {
  const read = url(raw);
  const { username, password } = new URL(read);
  if (/[?#]/.test(raw) || username !== "" || password !== "")
    throw new Error("an http or https URL without user, query and fragment");
  return read;
};
export const redisUrl: Reader<string> = (raw) => {
  if (!/^rediss?:\/\//.test(raw) || !URL.canParse(raw))
    throw new Error("a URL such as redis://:password@host:6379, or rediss:// for TLS");
  return raw;
};
export const sentinelList: Reader<readonly { host: string; port: number }[]> = (raw) =>
  raw.split(",").map((one) => {
    const [, name, port] =
      /^\s*([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?\s*$/.exec(one) ?? [];
    if (name === undefined || Number(port) > 65535)
      throw new Error("a list such as 10.0.0.1:26379,10.0.0.2:26379");
    return { host: name.replace(/^\[|\]$/g, ""), port: Number(port ?? 26379) };
  });
export const databaseUrl: Reader<string> = (raw) => {
  if (!/^postgres(?:ql)?:\/\//.test(raw) || !URL.canParse(raw))
    throw new Error("a URL such as postgres://user:password@host:5432/database");
  return raw;
};
export const origin: Reader<string> = (raw) => {
  if (
    !/^https?:\/\//.test(raw) ||
    !URL.canParse(raw) ||
    new URL(raw).origin !== raw.replace(/\/$/, "").toLowerCase()
  )
    throw new Error("an http or https URL without a path");
  return new URL(raw).origin;
};
/** `*`, or origins separated by commas; `off` for none. */
export const origins: Reader<"*" | readonly string[] | null> = (raw) => {
  if (raw === "*") return raw;
  if (raw === "off") return null;
  try {
    return raw.split(",").map((one) => origin(one.trim()));
  } catch {
    throw new Error("*, off, or origins such as https://app.example.org, with commas");
  }
};
/** The contact for reports (RFC 9116, section 2.5.3). */
export const contact: Reader<string> = (raw) => {
  if (!/^(?:mailto:|https:\/\/|tel:)[^\s\p{Cc}]+$/u.test(raw))
    throw new Error("mailto:security@example.org, or an https URL");
  return raw;
};
export const containerHost: Reader<string> = (raw) => {
  if (/^unix:\/\/\/[^\0]+$/.test(raw)) return raw;
  if (
    !/^(tcp|https?):\/\/(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:\d{1,5})?\/?$/.test(raw) ||
    !URL.canParse(raw)
  )
    throw new Error("unix:///path/of/the/socket, tcp://host:port or https://host:port");
  return raw.replace(/\/$/, "");
};
export const imagePatterns: Reader<string> = (raw) => {
  if (!/^[A-Za-z0-9._/:@*-]+(\s*,\s*[A-Za-z0-9._/:@*-]+)*$/.test(raw))
    throw new Error("a list such as localhost/*,registry.example.org/lab/*");
  return raw;
};
export const host: Reader<string> = (raw) => {
  if (!isIP(raw) && !/^[A-Za-z0-9.-]+$/.test(raw)) throw new Error("an IP address or host name");
  return raw;
};
export const portOrOff: Reader<number | null> = (raw) =>
  raw === "off" ? null : whole(0, 65535)(raw);
export const networks: Reader<string> = (raw) => {
  blockList(raw);
  return raw;
};
export const rate: Reader<number> = (raw) => (raw === "off" ? 0 : whole(1, 1_000_000)(raw));
export const share: Reader<number> = (raw) => {
  const value = Number(raw);
  if (!/^\d*\.?\d+$/.test(raw) || value > 1) throw new Error("a number from 0 to 1");
  return value;
};
/** Milliseconds without a unit, as in the variables of OpenTelemetry. */
export const milliseconds = whole(1, 600_000);
/**
 * Headers in OpenTelemetry's notation: names and values joined by =, separated by commas, values
 * percent-encoded ASCII.
 */
export const headerList: Reader<Readonly<Record<string, string>>> = (raw) =>
  Object.fromEntries(
    raw.split(",").map((one) => {
      const [, name, value] =
        /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*((?:[!-$&-~]|%[2-7][0-9A-Fa-f])*)\s*$/.exec(one) ?? [];
      if (name === undefined || value === undefined)
        throw new Error("a list such as api-key=secret,tenant=lab, values percent-encoded");
      return [name.toLowerCase(), decodeURIComponent(value)];
    }),
  );
export const lifetime =
  (most: number, shown: string): Reader<number> =>
  (raw) => {
    if (raw === "off") return 0;
    const value = duration(raw);
    if (value < 1000 || value > most) throw new Error(`off, or a duration from 1s to ${shown}`);
    return value;
  };
export const secret: Reader<string> = (raw) => {
  if (Buffer.byteLength(raw) < 32) throw new Error("at least 32 bytes");
  if (/^(.)\1*$/.test(raw) || /^(change.?me|secret|your.?secret|example|password|test)/i.test(raw))
    throw new Error("a secret of your own, not a sample value");
  return raw;
};
