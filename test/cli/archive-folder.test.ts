import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { archiveFolder } from "../../cli/commands/registry/archive-folder.js";
import { packageRoot } from "../../src/package-root.js";
import { directoryHeaders, metadata } from "../support/crates.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arkgraph-folder-"));
  await makeCrate("crate");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function makeCrate(name: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(join(path, "b", "ä"), { recursive: true });
  await mkdir(join(path, "empty"));
  for (const [file, content] of [
    ["z.txt", "z"],
    ["a.txt", "a".repeat(100_000)],
    ["b/ä/x.txt", ""],
    ["b/ro-crate-metadata.json", "{}"],
    ["ro-crate-metadata.json", JSON.stringify(metadata())],
  ] as const)
    await writeFile(join(path, file), content);
  return path;
}
const archived = async (path: string): Promise<Buffer> =>
  buffer((await archiveFolder(path)).stream(() => undefined));
const names = (archive: Buffer): string[] =>
  directoryHeaders(archive).map((at) =>
    archive.toString("utf8", at + 46, at + 46 + archive.readUInt16LE(at + 28)),
  );

/** What this process has open, where the system tells it (Linux). */
const OPEN = "/proc/self/fd";
const openIn = async (path: string): Promise<string[]> => {
  const targets = await Promise.all(
    (await readdir(OPEN)).map((name) => readlink(join(OPEN, name)).catch(() => "")),
  );
  return targets.filter((target) => target.startsWith(path));
};

describe("the archive of a folder", () => {
  it(
    "begins with the crate's own metadata; other members follow by name, empty folders " +
      "included",
    async () => {
      expect(names(await archived(join(folder, "crate")))).toEqual([
        "ro-crate-metadata.json",
        "a.txt",
        "b/ro-crate-metadata.json",
        "b/ä/x.txt",
        "z.txt",
        "empty/",
      ]);
    },
  );

  it("is identical for identical files: of a copy, at another time, in another time zone", async () => {
    const first = await archived(join(folder, "crate"));
    await cp(join(folder, "crate"), join(folder, "copy"), { recursive: true });
    await utimes(join(folder, "copy", "z.txt"), 1000, 1000);
    expect(Buffer.compare(await archived(join(folder, "copy")), first)).toBe(0);
    const script =
      "const { archiveFolder } = await " +
      `import(${JSON.stringify(join(packageRoot, "dist/cli/commands/registry/archive-folder.js"))});` +
      " (await archiveFolder(process.argv[1])).stream(() => {}).pipe(process.stdout);";
    const elsewhere = execFileSync(
      process.execPath,
      ["--input-type=module", "-e", script, join(folder, "crate")],
      { env: { PATH: process.env["PATH"], TZ: "Pacific/Auckland" }, maxBuffer: 1 << 24 },
    );
    expect(Buffer.compare(elsewhere, first)).toBe(0);
  });

  it("reports its progress", async () => {
    const archive = await archiveFolder(join(folder, "crate"));
    let read = 0;
    await buffer(archive.stream((bytes) => (read = bytes)));
    expect(read).toBe(archive.total);
    expect(archive.total).toBeGreaterThan(100_000);
  });

  it(
    "is refused for a folder without metadata, for links, pipes and sockets, and for " +
      "names that are not UTF-8",
    async () => {
      await mkdir(join(folder, "plain"));
      await expect(archiveFolder(join(folder, "plain"))).rejects.toThrow(
        "the folder has no ro-crate-metadata.json, so it is not an RO-Crate",
      );
      const link = await makeCrate("link");
      await symlink("a.txt", join(link, "b", "l.txt"));
      await expect(archiveFolder(link)).rejects.toThrow(
        `${join(link, "b", "l.txt")} is a symbolic link: replace it with the file that ` +
          "it points to",
      );
      const pipe = await makeCrate("pipe");
      execFileSync("mkfifo", [join(pipe, "p")]);
      await expect(archiveFolder(pipe)).rejects.toThrow(
        "p is a pipe; a crate contains only files and folders",
      );
      const socket = await makeCrate("socket");
      const server = createServer().listen(join(socket, "s"));
      await new Promise((resolve) => server.once("listening", resolve));
      await expect(archiveFolder(socket)).rejects.toThrow(
        "s is a socket; a crate contains only files and folders",
      );
      server.close();
      const name = await makeCrate("name");
      await writeFile(Buffer.concat([Buffer.from(`${name}/`), Buffer.from([0xff])]), "");
      await expect(archiveFolder(name)).rejects.toThrow("its name is not UTF-8: rename it");
    },
  );

  it("is aborted when a file changes meanwhile", async () => {
    const path = await makeCrate("changing");
    const archive = await archiveFolder(path);
    await appendFile(join(path, "z.txt"), "more");
    await expect(buffer(archive.stream(() => undefined))).rejects.toThrow(
      "z.txt: it changed while it was read",
    );
    const gone = await archiveFolder(path);
    await rm(join(path, "z.txt"));
    await symlink("/etc/passwd", join(path, "z.txt"));
    await expect(buffer(gone.stream(() => undefined))).rejects.toThrow(
      "z.txt: it changed while it was read",
    );
  });

  it.skipIf(!existsSync(OPEN))(
    "closes its files when it is aborted, by a change or by its reader",
    async () => {
      const path = await makeCrate("closing");
      await writeFile(join(path, "z.txt"), "z".repeat(2 ** 20));
      const changing = await archiveFolder(path);
      await appendFile(join(path, "z.txt"), "more");
      await expect(buffer(changing.stream(() => undefined))).rejects.toThrow(
        "it changed while it was read",
      );
      await expect.poll(() => openIn(path)).toEqual([]);
      const left = (await archiveFolder(path)).stream(() => undefined);
      for await (const _ of left) if ((await openIn(path)).length > 0) break;
      expect(left.destroyed).toBe(true);
      await expect.poll(() => openIn(path)).toEqual([]);
    },
  );
});
