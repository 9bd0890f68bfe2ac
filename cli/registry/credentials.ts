import { randomBytes } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { Failure } from "../failure.js";

/** The stored data of a login. */
export interface Login {
  token: string;
  /** ARK of the account. */
  user: string;
  name: string | null;
  /** Ms since 1970. */
  expires: number;
}

/** Logins by the address of the registry, and the most recent one. */
export interface Credentials {
  current?: string;
  servers: Record<string, Login>;
}

/**
 * The folder for the tool's own files (XDG Base Directory Specification: a path that is not
 * absolute does not count).
 */
function configFolder(): string {
  const given = process.env["XDG_CONFIG_HOME"];
  return join(
    given !== undefined && isAbsolute(given) ? given : join(homedir(), ".config"),
    "arkgraph",
  );
}
export const credentialsFile = (): string => join(configFolder(), "credentials.json");

/** @throws Failure when the file is invalid, or other users may read it */
export async function readCredentials(): Promise<Credentials> {
  const file = credentialsFile();
  let text: string;
  try {
    const { mode } = await stat(file);
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw new Failure(`${file} contains tokens and others can read it: run chmod 600 on it`);
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { servers: {} };
    throw error;
  }
  const damaged = new Failure(`${file} is damaged: remove it, and run arkgraph login again`);
  let value: Partial<Credentials> | null;
  try {
    value = JSON.parse(text) as Partial<Credentials> | null;
  } catch {
    throw damaged;
  }
  const sound = (login: unknown): boolean =>
    typeof (login as Partial<Login> | null)?.token === "string" &&
    typeof (login as Login).user === "string" &&
    typeof (login as Login).expires === "number";
  if (
    typeof value?.servers !== "object" ||
    value.servers === null ||
    !Object.values(value.servers).every(sound)
  )
    throw damaged;
  return value as Credentials;
}

/** Replaces the file, readable only for this user: a reader sees the old file or the new one. */
export async function writeCredentials(credentials: Credentials): Promise<void> {
  const folder = configFolder();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const temporary = join(folder, `.credentials.${randomBytes(6).toString("hex")}`);
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(`${JSON.stringify(credentials, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, credentialsFile());
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
