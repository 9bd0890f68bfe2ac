import { SETTINGS } from "../config.js";

interface Row { readonly default: unknown; readonly about: string; read(raw: string): unknown }

/** `docs/settings.md`: every setting with its default and what it does. */
export function settingsPage(): string {
  return `# Settings

Settings are read from the environment. An empty value means the default; a value that is not valid stops the start with one line that names it.
Sizes read \`1048576\`, \`512K\` or \`5GiB\` (1K is 1024 bytes); durations \`500ms\`, \`30s\`, \`10m\`, \`24h\` or \`7d\`.

This page is printed from the code by \`npm run generate\`.

| Name | Default | Meaning |
|---|---|---|
${Object.entries(SETTINGS as Record<string, Row>).map(([name, setting]) => `| \`${name}\` | ${shown(setting)} | ${setting.about.replaceAll("|", "\\|")} |`).join("\n")}
`;
}

const SIZES = [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]] as const;
const TIMES = [["d", 86_400_000], ["h", 3_600_000], ["m", 60_000], ["s", 1000], ["ms", 1]] as const;

/** The default as one would write it: what it prints is read back as the same value. */
function shown({ default: value, read }: Row): string {
  if (value === null) return "—";
  if (typeof value !== "number") return `\`${String(value)}\``;
  for (const [unit, factor] of [...SIZES, ...TIMES]) {
    const text = `${value / factor}${unit}`;
    if (value >= factor && value % factor === 0 && readsAs(read, text, value)) return `\`${text}\``;
  }
  return readsAs(read, "off", value) ? "`off`" : `\`${value}\``;
}

function readsAs(read: (raw: string) => unknown, text: string, value: unknown): boolean {
  try {
    return read(text) === value;
  } catch {
    return false;
  }
}
