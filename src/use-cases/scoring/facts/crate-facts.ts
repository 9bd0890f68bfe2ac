import type { PublicationStatus } from "../../../stores/records/port.js";
import type { Fields } from "./fields.js";
import { Share } from "./share.js";

/** What is known of the root beside its fields. */
export interface RootFacts {
  name: string | null;
  revision: number;
  status: PublicationStatus;
  /** Whether its identifier is of this registry's own authority. */
  isOwn: boolean;
  /** The root's fields; what `additionalProperty` holds counts as a field. */
  fields: Fields;
  /** Whoever is named as author, publisher or principal investigator, and those with an ORCID or ROR among them. */
  actors: Share;
  /** Addresses and texts of the licence, also through an entity that describes it. */
  licences: string[];
  /** What RO-Crate asks of a root and this one lacks. */
  gaps: string[];
  hasContext: boolean;
}

/**
 * All that criteria are judged on: the root, and shares of what the crate holds, its sub-crates included. Made once for
 * a crate; its size does not depend on that of the crate.
 */
export class CrateFacts {
  /** Records looked at, the root among them. */
  entities = 0;

  /** Files, and data without parts: those with content here or an address. */
  readonly parts = new Share();
  /** The same: those that are not archived. */
  readonly unarchived = new Share();
  /** Embargoed records: those that state how access is had. */
  readonly embargoed = new Share();
  /** Records whose terms a context explains all. */
  readonly explained = new Share();
  /** Terms that no context explains; the first few. */
  readonly lostTerms = new Set<string>();

  /** Data: those that say where they come from. */
  readonly sourced = new Share();
  /** Computations and experiments: those that name inputs and outputs which exist. */
  readonly traced = new Share();
  /** Computations: those that name software which exists. */
  readonly programmed = new Share();
  /** Software: that with a location. */
  readonly located = new Share();
  /** Software: that whose container or environment is named. */
  readonly portable = new Share();

  /** Columns that schemas describe: those with a term of a vocabulary. */
  readonly columns = new Share();
  /** Records that say what they are about. */
  readonly subjects = new Share();
  /** Files: those whose size is stated or known here. */
  readonly sized = new Share();
  /** Tables: those with summary statistics. */
  readonly summarised = new Share();
  /** Tables: those with a schema that exists. */
  readonly structured = new Share();
  /** Tables that were checked against their schemas: those that conform. Absent where none was looked at. */
  checked: Share | undefined;

  /** Files: those with content whose SHA-256 was computed here and agrees with what is stated. */
  readonly verified = new Share();
  /** Files: those whose content is stored here and open to anyone. */
  readonly retrievable = new Share();
  /** Files: those with a format; with a registered one; with an open one. */
  readonly formatted = new Share();
  readonly registered = new Share();
  readonly open = new Share();

  /** Data and sub-crates: those that are reached from the root by `hasPart`. */
  readonly reached = new Share();
  /** References to records: those that lead to one. */
  readonly references = new Share();

  /** What the old rules ask of any entity. */
  readonly any = { dataset: false, computation: false, software: false, schema: false, checksum: false, format: false, statistics: false };

  constructor(readonly root: RootFacts) {}
}
