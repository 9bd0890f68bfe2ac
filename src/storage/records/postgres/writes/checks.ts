import { ServiceError } from "../../../../errors.js";
import { unpackLinks } from "../../codecs.js";
import type { RecordWrite } from "../../port.js";

/** UTF-8 bytes of an identifier: the entry of an index holds no more than 2,700 bytes in all. */
const LONGEST_IDENTIFIER = 2_500;

/**
 * The database would name the index, not the identifier.
 * @throws ServiceError `TOO_LARGE` for an identifier that no index holds
 */
export function checkIdentifiers(write: RecordWrite): void {
  checkLengths([write.ark]);
  if (!("links" in write)) return;
  checkLengths([write.owner, write.crate, "key" in write ? write.key : null]);
  for (const { target, targetKey } of unpackLinks(write.links)) checkLengths([target, targetKey]);
}

function checkLengths(identifiers: readonly (string | null | undefined)[]): void {
  for (const identifier of identifiers) {
    // Most are far shorter, and are not measured.
    const isLong = identifier && identifier.length * 3 > LONGEST_IDENTIFIER;
    if (!isLong || Buffer.byteLength(identifier) <= LONGEST_IDENTIFIER) continue;
    throw new ServiceError(
      "TOO_LARGE",
      `The identifier ${identifier.slice(0, 60)}… is longer than the ` +
        `${LONGEST_IDENTIFIER} bytes that the database can index; choose a shorter one.`,
    );
  }
}
