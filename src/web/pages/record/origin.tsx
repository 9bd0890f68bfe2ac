/** Where a record came from, in one sentence, and what one can rely on: each fact leads to its proof. */
import type { ComponentChildren } from "preact";
import { ServiceError } from "../../../errors.js";
import type { DrawnPicture } from "../../../services/evidence/picture/svg.js";
import { askedArk } from "../../../services/records/find.js";
import { OriginDocument, type OriginFactsFragment } from "../../documents.js";
import type { PageRequest } from "../../page.js";
import { recordPath } from "../../paths.js";
import { counted, countText, shortened } from "../../words.js";

/** Characters of a name within a sentence. */
const MAX_NAME = 80;

/** What the graph says of the origin of a record. */
export interface Origin {
  facts: OriginFactsFragment | null;
  picture: DrawnPicture;
}

/** Null while the graph cannot be asked, for example while it is loaded: pages do without it. */
export async function readOrigin(
  { ask, drawNearby }: Pick<PageRequest, "ask" | "drawNearby">,
  id: string,
): Promise<Origin | null> {
  try {
    const [{ origin }, { drawn }] = await Promise.all([
      ask(OriginDocument, { id }),
      drawNearby(askedArk(id), `${recordPath(id, "evidence")}?expand=`),
    ]);
    return { facts: origin, picture: drawn };
  } catch (error) {
    if (error instanceof ServiceError && error.status === 503) return null;
    throw error;
  }
}

/** Nothing where nothing is stated about the origin. */
export function OriginSentence({ origin }: { origin: OriginFactsFragment }) {
  const { parts } = origin;
  if (parts.length === 0) return null;
  return (
    <p class="origin-sentence" dir="auto">
      {parts.map(({ text, id }) =>
        id === null ? (
          text
        ) : (
          <a href={recordPath(id)}>
            <bdi>{shortened(text, MAX_NAME)}</bdi>
          </a>
        ),
      )}
      <FilesSentence {...origin} />
    </p>
  );
}

/** Of the files behind a result: whether somebody could check it with them. */
function FilesSentence({ files, filesIntact, filesDamaged }: OriginFactsFragment) {
  if (files === 0) return null;
  if (filesDamaged > 0)
    return <> {counted(filesDamaged, "file was", "files were")} found damaged.</>;
  if (filesIntact < files)
    return (
      <>
        {" "}
        Of {counted(files, "file")} {countText(filesIntact)} are here.
      </>
    );
  return files === 1 ? (
    <> Its file is here and matches its hash.</>
  ) : (
    <> All {countText(files)} files are here and match their hashes.</>
  );
}

interface FactsProps {
  id: string;
  origin: OriginFactsFragment;
  licence: string | null;
  /** Of a crate: criteria of AI-readiness that it meets; null where they were not computed yet. */
  score?: string | null;
}

/** A line of facts, each a link to what shows it. */
export function OriginLine({ id, origin, licence, score }: FactsProps) {
  const { files, filesIntact, inputs, inputsHere, software, thirdParty, supporting } = origin;
  const evidence = recordPath(id, "evidence");
  const facts: (readonly [href: string, text: ComponentChildren])[] = [];
  if (files > 0)
    facts.push([
      "#about",
      filesIntact === files
        ? files === 1
          ? "hash verified"
          : `${countText(files)} hashes verified`
        : `hashes verified: ${countText(filesIntact)} of ${countText(files)}`,
    ]);
  if (inputs > 0)
    facts.push([evidence, `inputs here: ${countText(inputsHere)} of ${countText(inputs)}`]);
  const [program, ...others] = software;
  if (program && others.length === 0)
    facts.push([
      recordPath(program.id ?? id),
      <>
        software: <bdi>{shortened(program.text, 40)}</bdi>
      </>,
    ]);
  else if (program) facts.push([evidence, counted(software.length, "program")]);
  if (supporting > 0)
    facts.push([
      evidence,
      thirdParty === 0 ? "stated by the owner" : `${counted(thirdParty, "statement")} by others`,
    ]);
  facts.push(licence === null ? ["#metadata", "no licence stated"] : ["#metadata", licence]);
  if (score !== undefined)
    facts.push(
      score === null
        ? [recordPath(id, "score"), "AI-readiness"]
        : ["#score", `AI-readiness: ${score}`],
    );
  return (
    <ul class="origin-facts" aria-label="Facts">
      {facts.map(([href, text]) => (
        <li>
          <a href={href}>{text}</a>
        </li>
      ))}
    </ul>
  );
}
