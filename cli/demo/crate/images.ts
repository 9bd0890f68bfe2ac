import { crc32, deflateSync } from "node:zlib";

/** An image of 8-bit red, green and blue. */
export interface Image {
  readonly width: number;
  readonly height: number;
  /** Row by row, three bytes a pixel. */
  readonly pixels: Uint8Array;
}

/** The result of the second script for one image. */
export interface Placed {
  x: number;
  y: number;
  cluster: number;
}

const blankImage = (width: number, height: number, value = 0): Image => ({
  width,
  height,
  pixels: new Uint8Array(width * height * 3).fill(value),
});

/** Sets a pixel; pixels outside the image are ignored. */
function plot(
  { width, height, pixels }: Image,
  x: number,
  y: number,
  [red, green, blue]: readonly [number, number, number],
): void {
  if (x < 0 || y < 0 || x >= width || y >= height) return;
  pixels.set([red, green, blue], (y * width + x) * 3);
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * The image as PNG: 8-bit truecolour, no interlacing, filter 0 on each row (PNG specification,
 * sections 5 and 11).
 */
export function encodePng({ width, height, pixels }: Image): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const rows = Buffer.alloc(height * (width * 3 + 1));
  for (let y = 0; y < height; y++)
    rows.set(pixels.subarray(y * width * 3, (y + 1) * width * 3), y * (width * 3 + 1) + 1);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

const FIGURE_SIZE = 240;
const MARGIN = 24;
const INK = [60, 64, 72] as const;
const COLOURS = [
  [31, 119, 180],
  [214, 96, 39],
] as const;

/** The summary figure: a scatter plot with one dot an image, coloured by cluster. */
export function drawFigure(points: readonly Placed[]): Image {
  const image = blankImage(FIGURE_SIZE, FIGURE_SIZE, 255);
  for (let at = MARGIN; at <= FIGURE_SIZE - MARGIN; at++) {
    plot(image, MARGIN, at, INK);
    plot(image, at, FIGURE_SIZE - MARGIN, INK);
  }
  const scale = (values: number[]) => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return (value: number) =>
      MARGIN + 16 + ((value - least) / (most - least || 1)) * (FIGURE_SIZE - 2 * MARGIN - 32);
  };
  const across = scale(points.map(({ x }) => x));
  const up = scale(points.map(({ y }) => y));
  for (const { x, y, cluster } of points)
    dot(
      image,
      Math.round(across(x)),
      FIGURE_SIZE - Math.round(up(y)),
      COLOURS[cluster % COLOURS.length]!,
    );
  return image;
}

function dot(
  image: Image,
  centreX: number,
  centreY: number,
  colour: readonly [number, number, number],
): void {
  for (let y = -5; y <= 5; y++)
    for (let x = -5; x <= 5; x++)
      if (x * x + y * y <= 25) plot(image, centreX + x, centreY + y, colour);
}

/** Where the stained protein lies in a cell. */
type Phenotype = "nuclear" | "cytoplasmic";

/** One field of view. */
export interface Field {
  /** File name without folder and extension. */
  readonly name: string;
  readonly well: string;
  readonly treatment: "untreated" | "paclitaxel";
  readonly phenotype: Phenotype;
  readonly image: Image;
}

const CELLS_SIZE = 64;
const WELLS = [
  { well: "A1", treatment: "untreated", phenotype: "nuclear" },
  { well: "B1", treatment: "paclitaxel", phenotype: "cytoplasmic" },
] as const;
const FIELDS_PER_WELL = 3;
const CELLS_PER_FIELD = 6;

/**
 * The same numbers in the same order for the same seed (mulberry32): the crate must not differ from
 * run to run.
 */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Six small images as a microscope might have taken them: nuclei in blue, a protein in green, two
 * phenotypes.
 */
export function drawFields(): Field[] {
  return WELLS.flatMap(({ well, treatment, phenotype }, row) =>
    Array.from({ length: FIELDS_PER_WELL }, (_, index): Field => ({
      name: `${well}_field${index + 1}`,
      well,
      treatment,
      phenotype,
      image: drawField(phenotype, randomNumbers(1000 * (row + 1) + index)),
    })),
  );
}

function drawField(phenotype: Phenotype, random: () => number): Image {
  const image = blankImage(CELLS_SIZE, CELLS_SIZE);
  const blue = new Float64Array(CELLS_SIZE * CELLS_SIZE);
  const green = new Float64Array(CELLS_SIZE * CELLS_SIZE);
  for (let cell = 0; cell < CELLS_PER_FIELD; cell++) {
    const [x, y] = [8 + random() * (CELLS_SIZE - 16), 8 + random() * (CELLS_SIZE - 16)];
    const radius = 3.5 + random() * 1.5;
    addSpot(blue, x, y, radius, 190);
    if (phenotype === "nuclear") addSpot(green, x, y, radius * 0.9, 170);
    else addSpot(green, x + 1, y - 1, radius * 2.2, 95);
  }
  for (let pixel = 0; pixel < CELLS_SIZE * CELLS_SIZE; pixel++) {
    // Camera noise; no image is clean.
    image.pixels[pixel * 3 + 1] = Math.min(255, green[pixel]! + random() * 14);
    image.pixels[pixel * 3 + 2] = Math.min(255, blue[pixel]! + random() * 14);
  }
  return image;
}

/** Adds a soft round spot. */
function addSpot(
  channel: Float64Array,
  centreX: number,
  centreY: number,
  radius: number,
  strength: number,
): void {
  for (let y = 0; y < CELLS_SIZE; y++)
    for (let x = 0; x < CELLS_SIZE; x++) {
      const distance = ((x - centreX) ** 2 + (y - centreY) ** 2) / radius ** 2;
      if (distance < 9) channel[y * CELLS_SIZE + x]! += strength * Math.exp(-distance);
    }
}
