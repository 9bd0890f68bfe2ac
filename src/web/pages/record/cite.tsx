import { CopyButton } from "../../components.js";
import type { CitationsFragment } from "../../documents.js";
import { shortened } from "../../format.js";

/** Characters of a citation that are shown. */
const MOST = 6_000;

/** How to cite the record: as a sentence, and for reference managers. */
export function Cite({ citations }: { citations: Partial<CitationsFragment> }) {
  const { citation, bibtex, ris } = citations;
  if (!citation) return null;
  const sentence = citation.text.trim();
  return (
    <div class="panel" id="cite">
      <h2>Cite</h2>
      <p class="citation" dir="auto">
        {shortened(sentence, MOST)}
      </p>
      <p>
        <CopyButton text={shortened(sentence, MOST)} label="Copy the citation" />
      </p>
      <Form name="BibTeX" text={bibtex?.text} />
      <Form name="RIS" text={ris?.text} />
    </div>
  );
}

function Form({ name, text }: { name: string; text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <details class="more">
      <summary>{name}</summary>
      <div class="command">
        <pre tabIndex={0} aria-label={name}>
          {shortened(text, MOST)}
        </pre>
        <CopyButton text={shortened(text, MOST)} label={`Copy the citation as ${name}`} />
      </div>
    </details>
  );
}
