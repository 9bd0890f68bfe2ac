import type { StoredRecord } from "../../storage/records/port.js";
import { CATEGORIES, CATEGORY_NAMES, type CategoryName } from "./criteria.js";
import type { Criterion, Status } from "./criterion.js";
import type { CrateFacts } from "./facts/fields.js";

/** The result of one criterion. */
export interface CriterionScore {
  /** True when the status is met or partly. */
  has_content: boolean;
  details: string | null;
  status: Status;
  /**
   * JSON pointers into the records that decided, after their identifiers: `ark:…#/license`. At most
   * ten.
   */
  evidence: string[];
  /** The field to add, and where; null where nothing is missing. */
  fix: string | null;
  /** The result of the rule of older registries. */
  legacy: boolean;
}
export type CategoryScore = Record<string, CriterionScore>;

/** How ready a crate is for AI, criterion by criterion. */
export type AiReadyScore = { name: string; rocrateIdentifier: string } & Record<
  CategoryName,
  CategoryScore
> & {
    /** `total`: the criteria that apply. */
    score: { met: number; partly: number; total: number };
    /** Revision of the crate when it was evaluated. */
    revision: number;
    /** RFC 3339, UTC. */
    computedAt: string;
  };

/** The totals of one score of a crate, for its history. */
export interface ScorePoint {
  /** Revision of the crate. */ revision: number;
  /** RFC 3339, UTC. */ computedAt: string;
  met: number;
  partly: number;
  /** Criteria that apply. */ total: number;
}

export const pointOf = ({ revision, computedAt, score }: AiReadyScore): ScorePoint => ({
  revision,
  computedAt,
  ...score,
});

/** The score for the facts of a crate. */
export function scoreOf(
  { ark }: Pick<StoredRecord, "ark">,
  facts: CrateFacts,
  at: number,
): AiReadyScore {
  const score = { met: 0, partly: 0, total: 0 };
  const categories = Object.fromEntries(
    CATEGORY_NAMES.map((category) => [
      category,
      Object.fromEntries(
        Object.entries(CATEGORIES[category]).map(([name, criterion]) => {
          const verdict = evaluated(criterion, facts);
          if (verdict.status === "met" || verdict.status === "partly") score[verdict.status]++;
          if (verdict.status !== "not_applicable") score.total++;
          return [name, verdict];
        }),
      ),
    ]),
  ) as Record<CategoryName, CategoryScore>;
  return {
    name: `AI-Ready Score for ${facts.root.name ?? ark}`,
    rocrateIdentifier: ark,
    ...categories,
    score,
    revision: facts.root.revision,
    computedAt: new Date(at).toISOString(),
  };
}

function evaluated({ evaluate, fix, legacy }: Criterion, facts: CrateFacts): CriterionScore {
  const { status, details, evidence, fix: exact = fix } = evaluate(facts);
  return {
    has_content: status === "met" || status === "partly",
    details,
    status,
    evidence: [...evidence],
    fix: status === "met" || status === "not_applicable" ? null : exact,
    legacy: legacy(facts),
  };
}
