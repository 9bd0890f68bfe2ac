/** Describes a folder without metadata, by options or by questions on a terminal. */
import { open } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import {
  describedFolder,
  isReadme,
  suggestedDescription,
} from "../../../src/model/described-folder.js";
import type { JsonObject } from "../../../src/model/field.js";
import { Failure } from "../../terminal.js";
import type { Member } from "./archive-folder.js";
import { ask } from "./session.js";

export interface FolderOptions {
  title?: string;
  description?: string;
  license?: string;
}

const LICENCE = "CC-BY-4.0";
/** Bytes of a README that are read for its title and first paragraph. */
const LONGEST_README = 100_000;

/**
 * The metadata of the files; `undefined` where no option describes them and nobody can be asked.
 * @throws Failure where an option is missing and nobody can be asked
 */
export async function describeFolder(
  folder: string,
  files: readonly Member[],
  { title, description, license }: FolderOptions,
): Promise<JsonObject | undefined> {
  const isAsked = process.stdin.isTTY;
  if (!isAsked && title === undefined && description === undefined) return undefined;
  const readme = files.find(({ path }) => isReadme(path));
  const suggested = suggestedDescription(
    basename(resolve(folder)),
    readme && (await beginningOf(join(folder, readme.path))),
  );
  const answer = async (option: string, given: string | undefined, usual: string) => {
    if (given !== undefined) return given;
    const stated = isAsked ? await ask(`${option}${usual === "" ? "" : ` [${usual}]`}: `) : "";
    const text = stated === "" ? usual : stated;
    if (text !== "") return text;
    throw new Failure(`the folder has no ${option.toLowerCase()}: give --${option.toLowerCase()}`);
  };
  return describedFolder(files, {
    name: await answer("Title", title, suggested.name),
    description: await answer("Description", description, suggested.description),
    // Nobody's files get a licence that they did not name.
    licence: await answer("License", license, isAsked ? LICENCE : ""),
  });
}

async function beginningOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const bytes = Buffer.alloc(LONGEST_README);
    const { bytesRead } = await file.read(bytes, 0, LONGEST_README, 0);
    return bytes.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
