import type { AiReadyScore, CriterionScore } from "../../../src/use-cases/scoring/score.js";
import { arkPath, givenArk, openRegistry, type ServerOption } from "../../registry/registry.js";
import { paint } from "../../render/style.js";
import { visible } from "../../render/visible.js";

export interface ScoreOptions extends ServerOption { fixes?: true; json?: true }

const STYLES = { met: "green", partly: "yellow", not_met: "red", not_applicable: "dim" } as const;

/** `score`: how ready a crate is for AI, criterion by criterion. @throws Failure */
export async function scoreCommand(id: string, { fixes, json, ...options }: ScoreOptions): Promise<void> {
  const ark = givenArk(id);
  const registry = await openRegistry(options);
  const answer = await registry.json<AiReadyScore>(`/rocrate/ai-ready-score/${arkPath(ark)}`);
  if (json === true) return void process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
  const { name, score: { met, partly, total } } = answer;
  const lines = Object.entries(answer as object as Record<string, unknown>).flatMap(([category, criteria]) => {
    const shown = criteriaOf(criteria).filter(([, { fix }]) => fixes !== true || fix !== null);
    return shown.length === 0 ? [] : [`\n${paint("bold", words(category))}\n`, ...shown.map(([criterion, verdict]) => lineOf(criterion, verdict, fixes === true))];
  });
  process.stdout.write(`${visible(name)}: ${met} met and ${partly} partly, of ${total}\n${lines.join("")}`);
}

/** Whatever else the answer holds is no category. */
function criteriaOf(value: unknown): [string, CriterionScore][] {
  return Object.entries(typeof value === "object" && value !== null ? value : {}).filter((entry): entry is [string, CriterionScore] => typeof entry[1] === "object" && entry[1] !== null && "status" in entry[1]);
}

function lineOf(criterion: string, { status, details, fix }: CriterionScore, withFix: boolean): string {
  const text = withFix ? fix : details;
  return `  ${paint(STYLES[status] ?? "dim", words(status).padEnd(14))}  ${words(criterion)}${text === null ? "" : `: ${visible(text)}`}\n`;
}

const words = (name: string): string => visible(name.replaceAll("_", " "));
