import { ServiceError } from "../../../../errors.js";
import type { Link } from "../../../../model/kind.js";
import { unpackLinks } from "../../codecs.js";
import type { Commit, ObjectReference, RecordWrite } from "../../port.js";
import { isStorableText } from "../../text.js";
import { StatementError } from "../statement.js";

/** UTF-8 bytes of an identifier: the entry of an index holds no more than 2,700 bytes in all. */
const LONGEST_IDENTIFIER = 2_500;

/**
 * Checks all data of a commit, so that one that cannot be stored is refused before its transaction
 * begins.
 *
 * @throws StatementError `VALUE`; ServiceError `TOO_LARGE` for an identifier that no index holds
 */
export function checkCommit(commit: Commit): void {
  checkTexts("the commit", commit.by);
  checkNumbers(commit.at);
  for (const write of commit.records) checkWrite(write);
  const { account, uses, submission } = commit;
  if (account) {
    checkTexts(
      "the account",
      // oxlint-disable-next-line arkgraph/spread-into-call -- members of an account change
      ...Object.values(account).filter((value) => typeof value === "string"),
    );
    if (account.op !== "delete" && account.spends)
      checkTexts("the setting", account.spends.name, account.spends.value);
  }
  if (uses) {
    checkIdentifiers(uses.crate);
    for (const ark of uses.arks) checkIdentifiers(ark);
    for (const ark of uses.released ?? []) checkIdentifiers(ark);
  }
  if (submission) checkTexts("the submission", submission.id, submission.rocrateIdentifier);
}

function checkWrite(write: RecordWrite): void {
  checkIdentifiers(write.ark);
  if (write.op === "delete") checkTexts(write.ark, write.reason, write.successor);
  else if (write.op === "publish")
    checkTexts(write.ark, write.embargoedUntil, write.reason, write.successor);
  else {
    checkIdentifiers(write.owner, write.crate, write.op === "create" ? write.key : undefined);
    checkTexts(
      write.ark,
      write.name,
      write.licence,
      typeof write.quads === "string" ? write.quads : null,
    );
    unpackLinks(write.links).forEach(checkLink);
    write.objects?.forEach(checkObject);
  }
}

function checkLink({ predicate, target, targetKey }: Link): void {
  checkTexts("a link", predicate);
  checkIdentifiers(target, targetKey);
}

function checkObject({ sha256, size, mediaType, name }: ObjectReference): void {
  checkTexts("an object", sha256, mediaType, name);
  checkNumbers(size);
}

function checkTexts(what: string, ...texts: (string | null | undefined)[]): void {
  for (const text of texts) {
    if (text !== null && text !== undefined && !isStorableText(text))
      throw new StatementError(
        "VALUE",
        `${what.toWellFormed().replaceAll("\0", "")}: text with NUL or a lone surrogate`,
      );
  }
}

function checkIdentifiers(...identifiers: (string | null | undefined)[]): void {
  for (const identifier of identifiers) {
    if (identifier === null || identifier === undefined) continue;
    checkTexts("an identifier", identifier);
    if (
      identifier.length * 3 > LONGEST_IDENTIFIER &&
      Buffer.byteLength(identifier) > LONGEST_IDENTIFIER
    ) {
      throw new ServiceError(
        "TOO_LARGE",
        `The identifier ${identifier.slice(0, 60)}… is longer than the ` +
          `${LONGEST_IDENTIFIER} bytes that the database can index; choose a shorter one.`,
      );
    }
  }
}

function checkNumbers(...numbers: number[]): void {
  for (const number of numbers)
    if (!Number.isSafeInteger(number))
      throw new StatementError("VALUE", `${number} is no whole number within 2^53`);
}
