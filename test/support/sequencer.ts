import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest, longest first: begun last, one of them alone would make all others
 * wait for it.
 */
const LONGEST = [
  "bench/run",
  "cli/migrate",
  "cluster/faults",
  "e2e/crash-walk",
  "endpoint/faults-fuseki",
  "e2e/known-evidence",
  "objects/s3",
  "e2e/s3-registry",
  "e2e/",
];

/** Long files first; otherwise as Vitest has it. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const found = LONGEST.findIndex((name) => moduleId.includes(name));
      return found < 0 ? LONGEST.length : found;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}
