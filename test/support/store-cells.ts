import { EXAMPLES } from "../../src/model/examples.js";
import type { RegistryProcess } from "./registry-process.js";

/** A file record with content under the identifier that the manual's examples name. */
export async function storeCells(
  registry: RegistryProcess,
  user: string,
  password: string,
): Promise<void> {
  const token = await registry.login(user, password);
  const form = new FormData();
  form.set(
    "download",
    JSON.stringify({
      ...EXAMPLES.datadownload,
      "@id": "ark:99999/dataset-cells",
      name: "Cell counts",
      description: "Cells of each image.",
      contentUrl: null,
      contentSize: null,
      sha256: null,
    }),
  );
  form.set("file", new Blob(["image,cells\nfov-001.tif,214\n"], { type: "text/csv" }), "cells.csv");
  const { status, text } = await registry.ask("/register", { token, body: form });
  if (status !== 200) throw new Error(text);
}
