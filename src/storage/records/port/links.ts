import type { KindName, Link } from "../../../model/kind.js";

export interface FoundLink extends Link {
  source: string;
  sourceKind: KindName;
  position: string;
}

/** A link that leads to no live record. */
export interface DanglingLink extends FoundLink {
  /** The target was deleted; otherwise nothing has its identifier. */
  deleted: boolean;
}
