import type { JsonObject, JsonValue } from "../../model/field.js";
import { RunError, quoted } from "./findings.js";

/** What of a computation's document says how to run it. */
export interface RunDescription {
  image: string;
  /** Takes the place of the image's entry point. */
  entrypoint?: readonly string[];
  /** Absent: the image's own. */
  command?: readonly string[];
}

/** Registry, path, tag and digest, as the distribution specification of OCI has them; which of them exist is the engine's to say. */
const REFERENCE = /^(?!.*(?:\.\.|\/\/))[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}$/;
/** What execve takes on common systems, all arguments together. */
const LONGEST_COMMAND = 128 * 2 ** 10;

/**
 * @param allowed setting CONTAINER_IMAGES
 * @throws RunError `NO_IMAGE`, `IMAGE_NOT_ALLOWED`, `COMMAND_INVALID`
 */
export function describeRun(document: JsonObject, allowed: string): RunDescription {
  const said = document["container"];
  if (typeof said !== "string" || said.trim() === "") throw new RunError("NO_IMAGE", "The computation names no image: give one as container, such as localhost/lab/count:1.", "/container");
  const image = said.trim().replace(/^docker:\/\//, "");
  if (!REFERENCE.test(image)) throw new RunError("NO_IMAGE", `${quoted(said)} is no name of an image: give one as container, such as localhost/lab/count:1.`, "/container");
  if (!allowed.split(",").some((pattern) => matches(pattern.trim(), image))) throw new RunError("IMAGE_NOT_ALLOWED", `The image ${image} is not among those that this registry runs, CONTAINER_IMAGES=${allowed}.`, "/container");
  return { image, ...commandOf(document["command"]) };
}

function matches(pattern: string, image: string): boolean {
  const parts = pattern.split("*");
  if (parts.length === 1) return pattern === image;
  const [first, ...rest] = parts as [string, ...string[]];
  const last = rest.pop()!;
  if (!image.startsWith(first) || !image.endsWith(last) || image.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = image.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= image.length - last.length;
}

/** A text is a line for the shell, a list the arguments of the image's entry point, as Docker's own clients have it. */
function commandOf(command: JsonValue | undefined): Omit<RunDescription, "image"> {
  if (command === undefined || command === null) return {};
  const words = typeof command === "string" ? [command] : command;
  if (!Array.isArray(words) || !words.every((word) => typeof word === "string")) throw new RunError("COMMAND_INVALID", "The command is neither one text nor a list of texts.", "/command");
  if (words.reduce((sum, word) => sum + Buffer.byteLength(word), 0) > LONGEST_COMMAND) throw new RunError("COMMAND_INVALID", `The command is longer than ${LONGEST_COMMAND} bytes: put it into a file of the software.`, "/command");
  if (words.length === 0) return {};
  return typeof command === "string" ? { entrypoint: ["/bin/sh", "-c"], command: words } : { command: words };
}
