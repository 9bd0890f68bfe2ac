import { Failure } from "../failure.js";
import { arkPath, type Registry } from "../registry/registry.js";

/** What a registry says of stored bytes before they are read. */
export interface Content {
  path: string;
  /** Lower-case hex: bytes are kept under their hash, which is their ETag. */
  sha256: string;
  size: number;
  /** File name without folders. */
  name: string;
}

/** @throws Failure when nothing is stored, or it may not be read */
export async function describeContent(registry: Registry, ark: string): Promise<Content> {
  const path = `/download/${arkPath(ark)}`;
  const { statusCode, headers } = await registry.ask(path, { method: "HEAD" });
  // The answer to HEAD has no body that would say why: the same is asked for again.
  if (statusCode !== 200) await registry.text(path, { headers: { Range: "bytes=0-0" } });
  const sha256 = /^"([0-9a-f]{64})"$/.exec(headers.etag ?? "")?.[1];
  const size = Number(headers["content-length"]);
  if (sha256 === undefined || !Number.isSafeInteger(size)) throw new Failure(`${registry.address} does not say what it stores for ${ark}: no hash, no size`);
  return { path, sha256, size, name: fileName(headers["content-disposition"] ?? "") };
}

/** The name that a `Content-Disposition` gives (RFC 6266), made safe: no folders, nothing hidden, no control characters. */
export function fileName(disposition: string): string {
  const extended = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
  const plain = /filename="([^"]*)"/i.exec(disposition)?.[1];
  let name = plain ?? "";
  try {
    if (extended !== undefined) name = decodeURIComponent(extended.trim());
  } catch {
    // The plain one then.
  }
  return (name.split(/[\\/]/).at(-1) ?? "").replace(/\p{Cc}/gu, "_").replace(/^\.+/, "") || "content";
}
