import { randomBytes } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "./config.js";

/**
 * The key that signs tokens: JWT_SECRET, or one made at the first start and kept in the data folder with
 * mode 0600.
 * @throws ConfigError when the kept key was cut short
 */
export async function signingKey(dataDir: string, given: string | null): Promise<string> {
  if (given !== null) return given;
  const file = join(dataDir, "jwt-secret");
  const key = randomBytes(48).toString("base64url");
  try {
    const handle = await open(file, "wx", 0o600);
    try {
      await handle.writeFile(key);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const kept = (await readFile(file, "utf8")).trim();
  if (kept.length < 32) throw new ConfigError(`The signing key in ${file} is damaged: remove the file (all tokens end) or set JWT_SECRET`);
  return kept;
}
