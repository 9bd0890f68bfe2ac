// Saves the drawing as the service exports it, as an image of twice its size.
import { drawing } from "./drawing.js";

const LARGEST_SIDE = 8000;

export async function savePng(): Promise<void> {
  const exported = document.querySelector<HTMLAnchorElement>("a[href*='format=svg']");
  const svg = drawing();
  if (!exported || !svg) return;
  const { width, height } = svg.viewBox.baseVal;
  const response = await fetch(exported.href);
  const url = URL.createObjectURL(await response.blob());
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = document.createElement("canvas");
  const factor = Math.min(2, LARGEST_SIDE / Math.max(width, height));
  canvas.width = Math.max(1, image.naturalWidth * factor);
  canvas.height = Math.max(1, image.naturalHeight * factor);
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  const link = document.createElement("a");
  link.href = canvas.toDataURL("image/png");
  link.download = "evidence.png";
  link.click();
}
