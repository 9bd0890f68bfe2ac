/** How each kind of node is drawn: a shape and colours, so that neither carries the meaning alone. */
export interface Glyph {
  /** Name for people, one and many. */
  readonly one: string;
  readonly many: string;
  /** Outline and fill on light and on dark paper. */
  readonly light: Colours;
  readonly dark: Colours;
  /** The outline within a width and height, as path data. */
  readonly outline: (width: number, height: number) => string;
  /** Distance of the text from the left edge; without it the text is in the middle. */
  readonly indent?: number;
}
interface Colours {
  readonly stroke: string;
  readonly fill: string;
}

/** Ink, paper, quiet text, and the mark of the record itself. */
export const LIGHT = { ink: "#16212e", paper: "#fbfaf7", quiet: "#59636f", accent: "#12355b" };
export const DARK = { ink: "#e8e6df", paper: "#14181d", quiet: "#a2aab3", accent: "#8fc1ff" };

const rounded =
  (radius: number) =>
  (w: number, h: number): string =>
    `M${radius} 0H${w - radius}Q${w} 0 ${w} ${radius}V${h - radius}Q${w} ${h} ${w - radius} ${h}` +
    `H${radius}Q0 ${h} 0 ${h - radius}V${radius}Q0 0 ${radius} 0Z`;
const square = (w: number, h: number): string => `M0 0H${w}V${h}H0Z`;
/** Radius of the circle that stands before the name of a person. */
const HEAD = 14;

export const GLYPHS = {
  dataset: {
    one: "dataset",
    many: "datasets",
    light: { stroke: "#1f5fa8", fill: "#e6eef8" },
    dark: { stroke: "#7fb2f0", fill: "#1b2a3c" },
    outline: rounded(9),
    indent: 12,
  },
  file: {
    one: "file",
    many: "files",
    light: { stroke: "#56657a", fill: "#eceff3" },
    dark: { stroke: "#a3b1c4", fill: "#232a33" },
    outline: (w, h) => `M0 0H${w - 12}L${w} 12V${h}H0ZM${w - 12} 0V12H${w}`,
    indent: 12,
  },
  computation: {
    one: "computation",
    many: "computations",
    light: { stroke: "#b35a00", fill: "#fbeddc" },
    dark: { stroke: "#f0a04b", fill: "#33261a" },
    outline: (w, h) =>
      `M0 ${h / 2}A${w / 2} ${h / 2} 0 1 1 ${w} ${h / 2}A${w / 2} ${h / 2} 0 1 1 0 ${h / 2}Z`,
  },
  software: {
    one: "software",
    many: "programs",
    light: { stroke: "#2c7a3d", fill: "#e5f2e7" },
    dark: { stroke: "#79c98a", fill: "#1b2d20" },
    outline: (w, h) => `M14 0H${w - 14}L${w} ${h / 2}L${w - 14} ${h}H14L0 ${h / 2}Z`,
    indent: 18,
  },
  agent: {
    one: "person or group",
    many: "people or groups",
    light: { stroke: "#6d4aa5", fill: "#eee8f7" },
    dark: { stroke: "#b79be8", fill: "#29223a" },
    outline: (w, h) =>
      `${rounded(h / 2)(w, h)}M6 ${h / 2}a${HEAD} ${HEAD} 0 1 1 ${2 * HEAD} 0a${HEAD} ${HEAD} 0 1 1 -${2 * HEAD} 0Z`,
    indent: 2 * HEAD + 14,
  },
  schema: {
    one: "schema",
    many: "schemas",
    light: { stroke: "#0f766e", fill: "#e0f1ef" },
    dark: { stroke: "#5ec9be", fill: "#17302e" },
    outline: (w, h) => `${square(w, h)}M0 ${h / 3}H16M0 ${(2 * h) / 3}H16M16 0V${h}`,
    indent: 24,
  },
  crate: {
    one: "crate",
    many: "crates",
    light: { stroke: "#7a5230", fill: "#f3ebe2" },
    dark: { stroke: "#cfa37a", fill: "#2e251c" },
    outline: (w, h) => `${square(w, h)}M0 5H${w}M${w / 2 - 8} 0V5M${w / 2 + 8} 0V5`,
    indent: 12,
  },
  model: {
    one: "model",
    many: "models",
    light: { stroke: "#a8326e", fill: "#f8e5ee" },
    dark: { stroke: "#ef8dbd", fill: "#361e2a" },
    outline: (w, h) => `M10 0H${w - 10}L${w} 10V${h - 10}L${w - 10} ${h}H10L0 ${h - 10}V10Z`,
    indent: 14,
  },
  sample: {
    one: "sample",
    many: "samples",
    light: { stroke: "#6b6f12", fill: "#f1f1dc" },
    dark: { stroke: "#c8cc62", fill: "#2b2c17" },
    outline: (w, h) => `M0 0H${w}V${h / 2}Q${w} ${h} ${w - h / 2} ${h}H${h / 2}Q0 ${h} 0 ${h / 2}Z`,
    indent: 14,
  },
  instrument: {
    one: "instrument",
    many: "instruments",
    light: { stroke: "#2f6f86", fill: "#e2eff3" },
    dark: { stroke: "#7cc0d8", fill: "#1a2b31" },
    outline: (w, h) => `M12 0H${w - 12}L${w} ${h}H0Z`,
    indent: 18,
  },
  other: {
    one: "record",
    many: "records",
    light: { stroke: "#5b6470", fill: "#f1eee6" },
    dark: { stroke: "#9aa4ae", fill: "#1d232a" },
    outline: square,
    indent: 12,
  },
} as const satisfies Record<string, Glyph>;
export type GlyphName = keyof typeof GLYPHS;

const BY_TYPE: readonly (readonly [RegExp, GlyphName])[] = [
  [/^evi:(?:Computation|Experiment)$/, "computation"],
  [/^evi:Dataset$/, "dataset"],
  [/^evi:Software$/, "software"],
  [/^evi:Schema$/, "schema"],
  [/^evi:ROCrate$/, "crate"],
  [/^evi:MLModel$/, "model"],
  [/^evi:Sample$/, "sample"],
  [/^evi:Instrument$/, "instrument"],
  [/^(?:Person|Organization|Project|prov:(?:Agent|Person|Organization|SoftwareAgent))$/, "agent"],
  [/^(?:\w*Action|prov:Activity)$/, "computation"],
  [/^(?:SoftwareSourceCode|SoftwareApplication|ComputationalWorkflow)$/, "software"],
  [/^(?:evi:DataDownload|MediaObject|File)$/, "file"],
  [/^Dataset$/, "dataset"],
];

/** The first that a type of the node decides, those of record kinds before others. */
export const glyphOf = (types: readonly string[]): GlyphName =>
  BY_TYPE.find(([pattern]) => types.some((type) => pattern.test(type)))?.[1] ?? "other";

/** One thing and several of them. */
export interface Noun {
  one: string;
  many: string;
}

/** What a node is called: more exactly than its glyph, where that stands for several kinds of things. */
export const nounOf = (types: readonly string[]): Noun =>
  NOUNS.find(([pattern]) => types.some((type) => pattern.test(type)))?.[1] ??
  GLYPHS[glyphOf(types)];

const NOUNS: readonly (readonly [RegExp, Noun])[] = [
  [/^evi:Experiment$/, { one: "experiment", many: "experiments" }],
  [/^(?:prov:)?Person$/, { one: "person", many: "people" }],
  [/^(?:prov:)?Organization$/, { one: "organization", many: "organizations" }],
  [/^Project$/, { one: "project", many: "projects" }],
];

const rules = (palette: typeof LIGHT, mode: "light" | "dark"): string =>
  [
    `.ev-paper{fill:${palette.paper}}`,
    `.ev-name{fill:${palette.ink}}`,
    `.ev-note,.ev-left{fill:${palette.quiet}}`,
    `.ev-edge{stroke:${palette.quiet}}`,
    `.ev-tip{fill:${palette.quiet}}`,
    ...Object.entries(GLYPHS).map(
      ([name, glyph]) => `.ev-${name}{fill:${glyph[mode].fill};stroke:${glyph[mode].stroke}}`,
    ),
    `.ev-absent{fill:none;stroke:${palette.quiet}}`,
    `.ev-root .ev-shape{stroke:${palette.accent}}`,
    `.ev-mark{fill:${palette.paper};stroke:${palette.accent}}`,
  ].join("\n");

/**
 * Style of a picture: pages include it in their style sheet, files have it inside. Without it a
 * picture has the light colours, by its attributes.
 */
export const PICTURE_STYLE = [
  ".ev{max-width:100%;height:auto}",
  ".ev a:focus-visible :is(.ev-shape,.ev-mark),.ev a:hover :is(.ev-shape,.ev-mark){stroke-width:3}",
  ".ev a{text-decoration:none}",
  ".ev-deleted .ev-name{text-decoration:line-through}",
  // They have no fill that would take a click.
  ".ev-absent .ev-shape{pointer-events:all}",
  `@media screen and (prefers-color-scheme:dark){\n${rules(DARK, "dark")}\n}`,
].join("\n");
