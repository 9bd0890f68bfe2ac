import type { JsonValue } from "../../../model/field.js";
import type { GraphInput } from "../../../rdf/record-graph.js";
import type { SoundContexts } from "../../../rdf/sound-context.js";
import { quoted, type Findings, type Place } from "../findings.js";
import type { CrateDescription } from "../layout/description.js";
import type { CrateLimits } from "../limits.js";
import type { PreparedEntity } from "../prepare.js";
import type { GraphsOf } from "./mend.js";

export type ContextBounds = Pick<CrateLimits, "MAX_CRATE_CONTEXTS" | "MAX_CRATE_TERMS">;

/** An entity that says nothing, to try a context on. */
const NOTHING = { ark: "ark:99999/context", kind: "entity", fromCrate: true } as const satisfies Omit<GraphInput, "document">;

/**
 * Leaves wrong definitions out of the contexts of a crate, with a warning that names each. One wrong definition would
 * otherwise take the meaning of every term away. A context that cannot be read at all is left as it is.
 */
export class RepairedContexts {
  readonly #known = new Map<string, JsonValue>();
  #sound: Promise<SoundContexts> | undefined;

  constructor(private readonly limits: ContextBounds, private readonly graphsOf: GraphsOf, private readonly findings: Findings) {}

  /** Repairs the context of a metadata file. @throws ContextLimit */
  async repairDescription(description: CrateDescription): Promise<void> {
    const { context, file } = description;
    if (context === undefined || context === null) return;
    description.context = await this.#repaired(context, [], { file, pointer: "/@context" }, () => this.graphsOf(context, []));
  }

  /** Repairs an entity's own contexts. @throws ContextLimit */
  async repairEntity({ parts }: PreparedEntity): Promise<void> {
    for (const { scope: { description: { context, file } }, entity: { value, pointer } } of parts) {
      const own = value["@context"];
      if (own === undefined || own === null) continue;
      const place = { file, pointer: `${pointer}/@context` };
      const before = context === undefined ? [] : [context];
      value["@context"] = await this.#repaired(own, before, place, () => this.graphsOf(context, [{ ...NOTHING, document: { "@context": own } }]));
    }
  }

  async #repaired(context: JsonValue, before: readonly JsonValue[], place: Place, attempt: () => Promise<unknown>): Promise<JsonValue> {
    const key = JSON.stringify([context, before]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const isSound = await attempt().then(() => true, (error: Error) => {
      if (error.name !== "JsonLdError" && !(error instanceof RangeError)) throw error;
      return false;
    });
    const repaired = isSound ? context : await this.#without(context, before, place);
    this.#known.set(key, repaired);
    return repaired;
  }

  async #without(context: JsonValue, before: readonly JsonValue[], place: Place): Promise<JsonValue> {
    // Loaded when it is needed, as all RDF is.
    this.#sound ??= import("../../../rdf/sound-context.js").then((module) => new module.SoundContexts(this.limits));
    const sound = await (await this.#sound).of(context, before);
    if (!sound) return context;
    for (const { term, pointer, message } of sound.dropped) {
      this.findings.warn(
        "TERM_INVALID", `The definition of ${JSON.stringify(quoted(term))} is left out of @context: ${message}`,
        { ...place, pointer: `${place.pointer ?? ""}${pointer}` },
      );
    }
    return sound.context;
  }
}
