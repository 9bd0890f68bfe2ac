import type { TableLimits } from "../limits.js";
import type { RowFeed } from "./feed.js";
import { scannedFeed } from "./scanned-feed.js";
import { isScannable } from "./scanner.js";

/** Rows of text: from our own scanner where it can read the separator, else from the reference reader. */
export async function textFeed(text: AsyncIterable<Uint8Array>, separator: string, limits: TableLimits): Promise<RowFeed> {
  return isScannable(separator) ? scannedFeed(text, separator, limits) : (await import("./reference-feed.js")).referenceFeed(text, separator, limits);
}
