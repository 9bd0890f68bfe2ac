import { embedderOf } from "../../../src/app/compose.js";
import { configWithBounds } from "../../support/config.js";
import type { Embedder } from "../../../src/adapters/embeddings/port.js";

/** As the registry makes it of these settings. */
export async function embedderWith(settings: Record<string, string>): Promise<Embedder> {
  return (await embedderOf(configWithBounds({ EMBEDDINGS_MODEL: "e5-passage", ...settings })))!;
}

export const lengthOf = (vector: Float32Array): number => Math.hypot(...vector);
/** Cosine, since both are of length 1. */
export const nearness = (one: Float32Array, other: Float32Array): number =>
  one.reduce((sum, number, at) => sum + number * other[at]!, 0);
/** What a promise is refused with. */
export const faultOf = async (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => {
      throw new Error("it was not refused");
    },
    (error: Error) => error,
  );
