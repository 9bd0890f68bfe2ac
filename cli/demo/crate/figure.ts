import type { Placed } from "./analysis.js";
import { blankImage, plot, type Image } from "./png.js";

const SIZE = 240;
const MARGIN = 24;
const INK = [60, 64, 72] as const;
const COLOURS = [[31, 119, 180], [214, 96, 39]] as const;

/** The summary figure: a scatter plot with one dot an image, coloured by cluster. */
export function drawFigure(points: readonly Placed[]): Image {
  const image = blankImage(SIZE, SIZE, 255);
  for (let at = MARGIN; at <= SIZE - MARGIN; at++) {
    plot(image, MARGIN, at, INK);
    plot(image, at, SIZE - MARGIN, INK);
  }
  const scale = (values: number[]) => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return (value: number) => MARGIN + 16 + ((value - least) / (most - least || 1)) * (SIZE - 2 * MARGIN - 32);
  };
  const across = scale(points.map(({ x }) => x));
  const up = scale(points.map(({ y }) => y));
  for (const { x, y, cluster } of points) dot(image, Math.round(across(x)), SIZE - Math.round(up(y)), COLOURS[cluster % COLOURS.length]!);
  return image;
}

function dot(image: Image, centreX: number, centreY: number, colour: readonly [number, number, number]): void {
  for (let y = -5; y <= 5; y++) for (let x = -5; x <= 5; x++) if (x * x + y * y <= 25) plot(image, centreX + x, centreY + y, colour);
}
