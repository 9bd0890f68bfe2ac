import { blankImage, type Image } from "./png.js";

/** Where the stained protein lies in a cell. */
export type Phenotype = "nuclear" | "cytoplasmic";

/** One field of view. */
export interface Field {
  /** File name without folder and extension. */
  readonly name: string;
  readonly well: string;
  readonly treatment: "untreated" | "paclitaxel";
  readonly phenotype: Phenotype;
  readonly image: Image;
}

const SIZE = 64;
const WELLS = [
  { well: "A1", treatment: "untreated", phenotype: "nuclear" },
  { well: "B1", treatment: "paclitaxel", phenotype: "cytoplasmic" },
] as const;
const FIELDS_PER_WELL = 3;
const CELLS_PER_FIELD = 6;

/** The same numbers in the same order for the same seed (mulberry32): the crate must not differ from run to run. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Six small images as a microscope might have taken them: nuclei in blue, a protein in green, two phenotypes. */
export function drawFields(): Field[] {
  return WELLS.flatMap(({ well, treatment, phenotype }, row) =>
    Array.from({ length: FIELDS_PER_WELL }, (_, index): Field => ({
      name: `${well}_field${index + 1}`, well, treatment, phenotype, image: drawField(phenotype, randomNumbers(1000 * (row + 1) + index)),
    })));
}

function drawField(phenotype: Phenotype, random: () => number): Image {
  const image = blankImage(SIZE, SIZE);
  const blue = new Float64Array(SIZE * SIZE);
  const green = new Float64Array(SIZE * SIZE);
  for (let cell = 0; cell < CELLS_PER_FIELD; cell++) {
    const [x, y] = [8 + random() * (SIZE - 16), 8 + random() * (SIZE - 16)];
    const radius = 3.5 + random() * 1.5;
    addSpot(blue, x, y, radius, 190);
    if (phenotype === "nuclear") addSpot(green, x, y, radius * 0.9, 170);
    else addSpot(green, x + 1, y - 1, radius * 2.2, 95);
  }
  for (let pixel = 0; pixel < SIZE * SIZE; pixel++) {
    // Camera noise; no image is clean.
    image.pixels[pixel * 3 + 1] = Math.min(255, green[pixel]! + random() * 14);
    image.pixels[pixel * 3 + 2] = Math.min(255, blue[pixel]! + random() * 14);
  }
  return image;
}

/** Adds a soft round spot. */
function addSpot(channel: Float64Array, centreX: number, centreY: number, radius: number, strength: number): void {
  for (let y = 0; y < SIZE; y++)
    for (let x = 0; x < SIZE; x++) {
      const distance = ((x - centreX) ** 2 + (y - centreY) ** 2) / radius ** 2;
      if (distance < 9) channel[y * SIZE + x]! += strength * Math.exp(-distance);
    }
}
