// Licences of the packages whose code is in dist: each asks that its text goes along with its code.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const TEXT = /^(?:licen[cs]e|notice|copying|swagger-ui-bundle\.js\.licen[cs]e)/i;

/** @param inputs paths of the files that were bundled */
export function writeNotices(inputs) {
  const folders = new Set(
    inputs.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  const names = new Map();
  for (const folder of folders) {
    const { name, version, license, author } = JSON.parse(
      readFileSync(join(root, folder, "package.json"), "utf8"),
    );
    const texts = readdirSync(join(root, folder))
      .filter((file) => TEXT.test(file))
      .map((file) => readFileSync(join(root, folder, file), "utf8").trim());
    // Some packages name their licence and no more.
    const text = texts.join("\n\n") || [license, author?.name ?? author].filter(Boolean).join(", ");
    names.set(text, [...(names.get(text) ?? []), `${name} ${version}`]);
  }
  const parts = [...names].map(([text, packages]) => `${packages.sort().join(", ")}\n\n${text}`);
  writeFileSync(
    join(root, "dist", "THIRD-PARTY-NOTICES.txt"),
    ["The files in dist contain code of these packages.", ...parts.sort()].join(
      `\n\n${"-".repeat(80)}\n\n`,
    ) + "\n",
  );
}
