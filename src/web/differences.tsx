/** What differs between two documents of a record: of two revisions, or of the stored one and an upload. */
import type { ComponentChildren } from "preact";
import { stepName } from "../model/json/pointer.js";
import { labelOf, shortened } from "./words.js";

export interface Difference {
  /** JSON pointer (RFC 6901) of the member. */
  pointer: string;
  kind: "ADDED" | "REMOVED" | "CHANGED";
  /** Said beside the kind of the change. */
  note?: string | null;
  /** Shown in place of both values. */
  sentence?: string | null;
  before: unknown;
  after: unknown;
}

interface DifferencesProps {
  rows: readonly Difference[];
  /** Headings of the two values. */
  columns: readonly [before: string, after: string];
  Value(props: { value: unknown }): ComponentChildren;
}

const KINDS = { ADDED: "added", REMOVED: "removed", CHANGED: "changed" } as const;

/** The member that a JSON pointer leads into. */
export const memberOf = (pointer: string): string => stepName(pointer.split("/")[1] ?? pointer);

export function Differences({ rows, columns, Value }: DifferencesProps) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Differences">
      <table class="wide differences">
        <thead>
          <tr>
            {["Term", ...columns].map((heading) => (
              <th scope="col">{heading}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ pointer, kind, note, sentence, before, after }) => (
            <tr class={kind.toLowerCase()}>
              <th scope="row">
                <bdi>{shortened(labelOf(memberOf(pointer)), 80)}</bdi>
                <br />
                <small class="quiet">
                  {KINDS[kind]}
                  {note && `, ${note}`}
                </small>
              </th>
              {sentence ? (
                <td colSpan={2}>{sentence}</td>
              ) : (
                <>
                  <td>{kind !== "ADDED" && <Value value={before} />}</td>
                  <td>{kind !== "REMOVED" && <Value value={after} />}</td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
