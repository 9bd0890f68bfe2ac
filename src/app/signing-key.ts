import { randomBytes, randomUUID } from "node:crypto";
import { link, open, readFile, rename, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "../config/config.js";

/**
 * The key that signs tokens: JWT_SECRET, or a key that is generated at the first start and stored
 * in the data folder with mode 0600. A start that failed on a full disk leaves an empty file: that
 * key signed nothing, and is replaced.
 * @param write writes the key into its file
 * @throws ConfigError when the stored key was cut short; the disk's error when it cannot be stored
 */
export async function signingKey(
  dataDir: string,
  given: string | null,
  write: (file: FileHandle, key: string) => Promise<void> = (file, key) => file.writeFile(key),
): Promise<string> {
  if (given !== null) return given;
  const file = join(dataDir, "jwt-secret");
  const before = await stored(file);
  if (before === undefined || before === "") await make(dataDir, file, before === "", write);
  // Another start may have been first: both use the key that is stored under the name.
  const key = (await stored(file)) ?? "";
  if (key.length < 32)
    throw new ConfigError(
      `The signing key in ${file} is damaged: remove the file (all tokens end) or set JWT_SECRET`,
    );
  return key;
}

async function stored(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The file appears durably with the whole key, or not at all. */
async function make(
  dataDir: string,
  file: string,
  replace: boolean,
  write: (file: FileHandle, key: string) => Promise<void>,
): Promise<void> {
  const temporary = `${file}.${randomUUID()}`;
  try {
    const handle = await open(temporary, "wx", 0o600);
    try {
      await write(handle, randomBytes(48).toString("base64url"));
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (replace) await rename(temporary, file);
    else await name(temporary, file);
  } finally {
    await unlink(temporary).catch(() => {});
  }
  // If a folder cannot be opened (Windows), the system makes its names durable.
  const folder = await open(dataDir, "r").catch(() => undefined);
  await folder
    ?.sync()
    .catch(() => {})
    .finally(() => folder.close());
}

/** Unlike a rename, a link never replaces the key of a start that was first. */
async function name(temporary: string, file: string): Promise<void> {
  try {
    await link(temporary, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS" && code !== "EOPNOTSUPP")
      throw error;
    await rename(temporary, file);
  }
}
