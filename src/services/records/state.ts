import { setImmediate as turn } from "node:timers/promises";
import { invalid } from "../../errors.js";
import { type Ark, referencedArk } from "../../identifiers/ark.js";
import type { JsonObject } from "../../model/field.js";
import type { Kind } from "../../model/kind.js";
import type { RecordState } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { type ClaimedState, stated, type Stated, textOf } from "./reserved.js";
import { documentBytes } from "./view.js";

/** Bytes of a document up to which the serving thread may expand it itself. */
const SMALL = 16 * 2 ** 10;
/** Values of a document of scalars, each of which costs 2 to 3 µs. */
const MOST_SCALARS = 2_000;
/** Values of one that holds objects, each of which costs the JSON-LD processor about 40 µs. */
const MOST_NESTED = 100;

/**
 * Whether a document is expanded in about 5 ms at most: this is usual, and starting a thread for it
 * would take longer. Contexts inside the document, and contexts that it only names, cost as much as
 * their terms.
 * @param size bytes of the document as JSON
 */
function isLight(document: JsonObject, size: number): boolean {
  if (size > SMALL) return false;
  let values = 0;
  let nested = false;
  const open: object[] = [document];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    const members: unknown[] = Array.isArray(holder) ? holder : Object.values(holder);
    values += members.length;
    if (values > (nested ? MOST_NESTED : MOST_SCALARS)) return false;
    if (
      holder !== document &&
      (Object.hasOwn(holder, "@context") || Object.hasOwn(holder, "@import"))
    )
      return false;
    for (const member of members) {
      if (typeof member !== "object" || member === null) continue;
      if (!Array.isArray(member) && member !== document["@context"]) nested = true;
      open.push(member);
    }
  }
  const context = document["@context"];
  return (
    values <= (nested ? MOST_NESTED : MOST_SCALARS) &&
    (context === undefined ||
      context === null ||
      (typeof context === "object" && !Array.isArray(context)))
  );
}

/** What decides about a document's statements besides the document. */
interface StateOptions {
  /** The document's context defines its terms. */
  fromCrate?: boolean | undefined;
  /** The document's owner, where it was read already. */
  owner?: Ark | null | undefined;
  /** Owner of the record where the document names none. */
  ownerBefore?: string | null;
}

/**
 * Everything that is stored for one state of a record: document, quads, links, search text. A large
 * document is expanded in a separate thread.
 * @throws ValidationError when the document is no valid JSON-LD; ServiceError as
 * `DocumentThread.ask`
 */
export async function stateOf(
  deps: Pick<Deps, "documents">,
  kind: Kind,
  ark: string,
  document: JsonObject,
  options?: StateOptions,
): Promise<RecordState> {
  return (await claimedState(deps, kind, ark, document, options)).state;
}

/**
 * The same with the lines among its quads that only the registry may state.
 * @throws as {@link stateOf}
 */
export async function claimedState(
  { documents }: Pick<Deps, "documents">,
  kind: Kind,
  ark: string,
  document: JsonObject,
  {
    fromCrate = kind.loose === true,
    owner: read = kind.name === "user" ? null : ownerOf(document),
    ownerBefore = null,
  }: StateOptions = {},
): Promise<ClaimedState> {
  const bytes = documentBytes(document);
  const owner = read?.stored ?? null;
  const input = {
    ark,
    kind: kind.name,
    owner: owner ?? ownerBefore,
    ...(fromCrate ? { fromCrate } : {}),
  };
  let claimed: Stated;
  if (isLight(document, bytes.length))
    claimed = await stated({ ...input, document, known: read ?? undefined });
  else {
    // Writing and copying megabytes take a turn of the event loop each.
    await turn();
    // A copy: the bytes are stored as well.
    const copy = new Uint8Array(bytes);
    claimed = await documents.ask("state", { ...input, document: copy }, [copy]);
  }
  const { reserved, ...rest } = claimed;
  return {
    state: { kind: kind.name, name: textOf(document["name"]), owner, document: bytes, ...rest },
    reserved,
  };
}

/** The owner that a document names. @throws ValidationError when the text holds no readable ARK */
export function ownerOf(document: JsonObject): Ark | null {
  const { owner } = document;
  if (typeof owner !== "string") return null;
  const ark = referencedArk(owner);
  if (ark === undefined)
    throw invalid(
      ["body", "owner"],
      "Value error, not a readable ARK; for example ark:99999/user-ada",
    );
  return ark;
}
