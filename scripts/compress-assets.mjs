// Compresses the files that pages load, by their hash, as well as can be: a browser gets them without waiting for it.
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import { asset, assetNames, COMPRESSED_FOLDER } from "../dist/src/web/assets.js";

await mkdir(COMPRESSED_FOLDER, { recursive: true });
const before = new Set(await readdir(COMPRESSED_FOLDER));
const forms = {
  br: (bytes) => promisify(brotliCompress)(bytes),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
};
const made = assetNames()
  .flatMap((name) => asset(name) ?? [])
  .flatMap((found) =>
    Object.entries(forms).map(async ([encoding, compress]) => {
      const file = `${found.hash}.${encoding}`;
      if (before.delete(file)) return;
      // A build that is ended leaves no part of a file behind under its name.
      const whole = join(COMPRESSED_FOLDER, file);
      await writeFile(`${whole}.part`, await compress(found.bytes));
      await rename(`${whole}.part`, whole);
    }),
  );
await Promise.all(made);
for (const file of before) await rm(join(COMPRESSED_FOLDER, file));
