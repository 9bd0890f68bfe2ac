import { Interruptible } from "../../interrupt.js";
import { openRegistry, type Registry, type ServerOption } from "../../registry/registry.js";
import { findingLine, groupedFindings, readStatus, type Submission } from "../../registry/submission.js";
import { textTable } from "../../render/table.js";
import { visible } from "../../render/visible.js";
import { follow } from "./follow.js";

export interface StatusOptions extends ServerOption { wait?: true; json?: true; limit: number }

/** `status`: one upload, or the latest ones. Status 1 when the one that was asked for has failed. @throws Failure */
export async function statusCommand(id: string | undefined, { server, wait, json, limit }: StatusOptions): Promise<void> {
  const interruptible = new Interruptible("stopped");
  await interruptible.run(async () => {
    const registry = await openRegistry(server === undefined ? {} : { server }, { token: true, signal: interruptible.signal });
    if (id === undefined) return listUploads(registry, json === true, limit);
    let submission = await readStatus(registry, id);
    if (wait === true && !submission.completed) submission = await follow(registry, id, interruptible);
    if (submission.status === "failed") process.exitCode = 1;
    process.stdout.write(json === true ? `${JSON.stringify(submission, null, 2)}\n` : describe(submission));
  });
}

async function listUploads(registry: Registry, json: boolean, limit: number): Promise<void> {
  const fields = "submissionUUID status timeStarted rocrateIdentifier identifiersMinted";
  const { submissions: { nodes } } = await registry.graphql<{ submissions: { nodes: Submission[] } }>(`query ($first: Int!) { submissions(first: $first) { nodes { ${fields} } } }`, { first: limit });
  if (json) return void process.stdout.write(`${JSON.stringify(nodes, null, 2)}\n`);
  if (nodes.length === 0) return void process.stdout.write("No uploads yet\n");
  process.stdout.write(textTable(["upload", "status", "begun", "crate"], nodes.map(({ submissionUUID, status, timeStarted, rocrateIdentifier }) => [submissionUUID, status, timeStarted ?? "-", visible(rocrateIdentifier ?? "-")])));
}

function describe(submission: Submission): string {
  const { submissionUUID, status, stage, progress, timeStarted, timeFinished, rocrateIdentifier, identifiersMinted, error, warnings } = submission;
  const rows: [string, string | null][] = [
    ["upload", submissionUUID], ["status", status], ["stage", submission.completed || stage === null ? null : `${stage}${progress?.total == null ? "" : ` ${progress.done} of ${progress.total} ${progress.unit}`}`],
    ["begun", timeStarted], ["ended", timeFinished], ["crate", rocrateIdentifier], ["identifiers", submission.success ? String(identifiersMinted) : null],
    ...(error ?? []).map((finding): [string, string] => ["error", findingLine(finding)]), ...groupedFindings(warnings).map((line): [string, string] => ["warning", line]),
  ];
  return rows.flatMap(([label, value]) => (value === null ? [] : [`${label.padEnd(11)}  ${visible(value)}\n`])).join("");
}
