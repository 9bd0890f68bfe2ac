import { spawnSync } from "node:child_process";
import { mkdtemp, open, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const run = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;
const MIB = 2 ** 20;

/** A file system of its own that is small, so that it can be full. */
export class SmallDisk {
  private constructor(readonly folder: string) {}

  /**
   * Returns nothing, with a warning, where small file systems may not be mounted. @param size MiB
   */
  static async mount(size: number): Promise<SmallDisk | undefined> {
    const folder = await mkdtemp(join(tmpdir(), "arkgraph-small-"));
    if (run("mount", "-t", "tmpfs", "-o", `size=${size}m`, "tmpfs", folder))
      return new SmallDisk(folder);
    await rm(folder, { recursive: true });
    process.emitWarning(
      "tests of full disks are left out: only root may mount a small file system",
    );
    return undefined;
  }

  /** Fills the disk as other programs would. @param left MiB that stay free */
  async fill(left = 0): Promise<void> {
    const file = await open(this.#others, "a");
    try {
      const { bavail, bsize } = await statfs(this.folder);
      for (let bytes = bavail * bsize - left * MIB; bytes > 0; bytes -= MIB)
        await file.write(Buffer.alloc(Math.min(MIB, bytes)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    } finally {
      await file.close();
    }
  }

  /** Frees the space that `fill` used. */
  async clear(): Promise<void> {
    await rm(this.#others, { force: true });
  }

  /** Call after all of its writers have ended. */
  async unmount(): Promise<void> {
    if (!run("umount", this.folder)) run("umount", "--lazy", this.folder);
    await rm(this.folder, { recursive: true, force: true });
  }

  get #others(): string {
    return join(this.folder, "of-others");
  }
}
