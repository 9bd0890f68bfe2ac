/** What validation found, grouped by its code: on the page of an upload, and in the plan of one. */
import { counted, countText, shortened } from "./words.js";

export interface Finding {
  code: string;
  message: string;
  /** How it is corrected; the same for all of a code. */
  fix?: string | null;
  file?: string | null;
  pointer?: string | null;
  line?: number | null;
}

interface FindingsProps {
  title: string;
  findings: readonly Finding[];
  /** Level of the heading. */
  level?: 2 | 3;
  /** Whether the groups are unfolded; absent: those of a few findings. */
  open?: boolean;
}

/** Findings of one code that are unfolded at once, and that are listed. */
const [UNFOLDED, LISTED] = [5, 100];

export function Findings({ title, findings, level = 2, open }: FindingsProps) {
  if (findings.length === 0) return null;
  const groups = new Map<string, Finding[]>();
  for (const finding of findings)
    groups.set(finding.code, [...(groups.get(finding.code) ?? []), finding]);
  const Heading = `h${level}` as const;
  return (
    <section>
      <Heading>{title}</Heading>
      {[...groups].map(([code, group]) => (
        <details class="more" open={open ?? group.length <= UNFOLDED}>
          <summary>
            <bdi>{shortened(group[0]!.message, 160)}</bdi>{" "}
            <span class="quiet">
              {group.length > 1 && `and ${countText(group.length - 1)} more like it `}
              <small>{code}</small>
            </span>
          </summary>
          {group[0]!.fix && (
            <p>
              <strong>Fix: </strong>
              {group[0]!.fix}
            </p>
          )}
          <ul>
            {group.slice(0, LISTED).map(({ message, file, pointer, line }) => (
              <li>
                <bdi>{message}</bdi>{" "}
                <span class="quiet">
                  {[file, pointer, line === null || line === undefined ? null : `line ${line}`]
                    .filter(Boolean)
                    .join(" · ")}
                </span>
              </li>
            ))}
          </ul>
          {group.length > LISTED && (
            <p>{counted(group.length - LISTED, "more message")} of this kind.</p>
          )}
        </details>
      ))}
    </section>
  );
}
