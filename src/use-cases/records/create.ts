import { ServiceError, ValidationError, invalid } from "../../errors.js";
import { arkKey, parseArk } from "../../identifiers/ark.js";
import { mintArk } from "../../identifiers/mint.js";
import { normalizeInput, withDefaults, withoutSecrets } from "../../model/defaults.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds/index.js";
import { validateRecord } from "../../model/validate.js";
import { authenticated, type Caller } from "../access/caller.js";
import { assertMayOwn } from "../access/rules.js";
import { accountToCreate } from "../accounts/accounts.js";
import type { Deps } from "../deps.js";
import { ownerOf, stateOf } from "./state.js";
import { viewOf, type RecordView } from "./view.js";

/** How often a freshly minted identifier may turn out taken before that is a fault. */
const MINT_ATTEMPTS = 5;

/**
 * Creates a record of a kind from a client's document. The kind is the one asked for, never read off `@type`.
 * @throws ValidationError with all broken rules; ServiceError `NOT_AUTHENTICATED`, `FORBIDDEN`, `DUPLICATE`, `EMAIL_TAKEN`
 */
export async function createRecord(deps: Deps, kindName: KindName, input: JsonValue | undefined, caller: Caller | null): Promise<RecordView> {
  const kind = KINDS[kindName];
  if (kindName !== "user") authenticated(caller);
  else if (deps.config.REGISTRATION === "admin" && !bringsAdminToken(input) && !authenticated(caller).admin) {
    throw new ServiceError("FORBIDDEN", "Accounts are created by administrators only (REGISTRATION=admin).");
  }
  const document = checked(kindName, input);
  if (kindName !== "user") await assertMayOwn(deps.records, caller!, ownerOf(document)!);
  const given = givenIdentifier(document);
  const account = kindName === "user" ? await accountToCreate(deps, document) : undefined;
  const stored = withoutSecrets(kind, document);

  for (let attempt = 1; ; attempt++) {
    const ark = given ?? mintArk(deps.config.ARK_NAAN, kindName, typeof document["name"] === "string" ? document["name"] : null);
    const state = await stateOf(kind, ark, withDefaults(kind, stored, ark));
    try {
      await deps.records.commit({
        by: caller?.user ?? (kindName === "user" ? ark : null), at: Date.now(),
        records: [{ op: "create", ark, key: arkKey(ark), ...state }],
        ...(account ? { account: { ...account, user: ark } } : {}),
      });
    } catch (error) {
      const taken = error instanceof ServiceError && error.code === "DUPLICATE";
      if (taken && given === undefined && attempt < MINT_ATTEMPTS) continue;
      throw error;
    }
    const [record] = await deps.records.findMany([ark]);
    return viewOf(deps, record!, caller ?? (kindName === "user" ? { user: ark, admin: false } : null));
  }
}

/** The first administrator has nobody to be created by: the one-time token is checked with the account. */
const bringsAdminToken = (input: JsonValue | undefined): boolean => isObject(input) && typeof input["adminToken"] === "string";

/** The input as a document that keeps every rule of its kind. @throws ValidationError */
export function checked(kind: KindName, input: JsonValue | undefined): JsonObject {
  const value = normalizeInput(KINDS[kind], input);
  const problems = validateRecord(KINDS[kind], value);
  const id = isObject(value) ? value["@id"] : undefined;
  if (id !== undefined && id !== null && (typeof id !== "string" || parseArk(id) === undefined)) {
    problems.push({ loc: ["body", "@id"], msg: "Value error, not an ARK; for example ark:99999/dataset-example", type: "value_error" });
  }
  if (problems.length > 0) throw new ValidationError(problems);
  return value as JsonObject;
}

function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function givenIdentifier(document: JsonObject): string | undefined {
  const id = document["@id"];
  if (typeof id !== "string") return undefined;
  const ark = parseArk(id);
  if (!ark) throw invalid(["body", "@id"], "Value error, not an ARK; for example ark:99999/dataset-example");
  return ark.stored;
}
