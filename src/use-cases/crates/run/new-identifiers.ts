import { identifierProblem } from "../../../identifiers/claimable.js";
import type { RecordStore } from "../../../stores/records/port.js";
import { Claims } from "../../access/claims.js";
import { quoted } from "../findings.js";
import type { Claim, Refusal } from "./protocol.js";

/** Identifiers that a crate would register: whether the uploader may, by the rules that hold for every record. */
export class NewIdentifiers {
  #claims: Promise<Claims> | undefined;

  constructor(private readonly records: Pick<RecordStore, "accountOf" | "findMany" | "holders">, private readonly user: string) {}

  /** Keys above them that nobody held, for the commit. */
  async unheld(): Promise<string[]> {
    return (await this.#claims)?.unheld ?? [];
  }

  /** @param claims those of identifiers that nobody has, with their places among all */
  async refusals(claims: readonly (readonly [index: number, claim: Claim])[]): Promise<Refusal[]> {
    if (claims.length === 0) return [];
    this.#claims ??= this.records.accountOf(this.user).then((account) => new Claims(this.records, { user: this.user, admin: account?.admin === true }));
    const above = await (await this.#claims).refusals(claims.map(([, { ark }]) => ark));
    return claims.flatMap(([index, { ark, id, kept }], at): Refusal[] => {
      const problem = kept ? identifierProblem(id) : undefined;
      if (problem !== undefined) return [{ index, code: "INVALID_ID", message: `${shown(ark)}: ${problem}.` }];
      const holder = above[at];
      return holder ? [{ index, code: "IDENTIFIER_BELOW", message: `${quoted(ark)} lies below ${quoted(holder.ark)}, which you may not change; give the entity another @id.` }] : [];
    });
  }
}

/** What is hidden in it is shown by its number, so that a message does not do what it warns of. */
const shown = (ark: string): string => quoted(ark.replace(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Z}]/gu, (character) => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`));
