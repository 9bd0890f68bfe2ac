import type { IncomingMessage } from "node:http";
import busboy from "busboy";
import { ServiceError } from "../errors.js";
import { FormEnd, secondFile, twice } from "../rest/form-end.js";

/**
 * Watches over the parts of a multipart request while another parser reads them: that one drops a second file, and
 * a second `operations` or `map`, without a word.
 */
export function watchParts(req: IncomingMessage): FormEnd {
  const end = new FormEnd();
  const seen = new Set<string>();
  let parser: busboy.Busboy;
  try {
    parser = busboy({ headers: req.headers, limits: { fieldSize: 1 }, defParamCharset: "utf8" });
  } catch {
    // The other parser says what is wrong.
    end.reach();
    return end;
  }
  parser.on("field", (field) => {
    if (seen.has(field)) end.fail(twice(field));
    seen.add(field);
  });
  let files = 0;
  parser.on("file", (field, stream) => {
    stream.on("error", () => undefined).resume();
    files += 1;
    if (files > 1) end.fail(secondFile(field));
  });
  parser.on("error", () => end.fail(new ServiceError("BAD_REQUEST", "The multipart form cannot be read.")));
  parser.on("close", end.reach);
  req.once("close", () => {
    if (!req.readableEnded) end.fail(new ServiceError("BAD_REQUEST", "The upload broke off before its end: send it again."));
  });
  req.pipe(parser);
  return end;
}
