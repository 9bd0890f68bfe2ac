import type { Findings } from "../findings.js";
import type { FileClaims } from "./match-files.js";

/** A file of the archive that was stored: its digests in lower-case hex. */
export interface StoredFile { sha256: string; size: number; md5?: string; sha512?: string }

/** Compares a stored file with what its entity says of it. */
export function checkClaims(stored: StoredFile, claims: FileClaims, findings: Findings): void {
  if (claims.size !== undefined && claims.size !== stored.size)
    findings.warn("SIZE_MISMATCH", `The file has ${stored.size} bytes, its contentSize says ${claims.size}. The measured size is stored.`, claims.place);
  for (const name of ["md5", "sha256", "sha512"] as const) {
    const claimed = claims[name];
    if (claimed !== undefined && stored[name] !== undefined && claimed !== stored[name])
      findings.error("DIGEST_MISMATCH", `The file's ${name} is ${stored[name]}, its entity says ${claimed}.`, claims.place);
  }
}
