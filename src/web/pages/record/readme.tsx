/** The README of a crate. */
import { ServiceError } from "../../../errors.js";
import { Section } from "../../components.js";
import { type CratePartsFragment, ReadmeTextDocument } from "../../documents.js";
import { Markdown } from "../../markdown.js";
import type { PageRequest } from "../../page.js";
import { recordPath, withQuery } from "../../paths.js";

const NAME = /^readme\.(?:md|markdown)$/i;
/** Characters that are shown at once. */
const LEAD_CHARS = 2500;

export interface ReadmeFile {
  id: string;
  name: string;
  text: string;
  truncated: boolean;
}

/** The README in the root of a crate, for those who may read it. */
export async function readReadme(
  ask: PageRequest["ask"],
  crate: string,
  { nodes, pageInfo }: CratePartsFragment["folder"],
): Promise<ReadmeFile | null> {
  const entry = nodes.find(({ name, isFolder }) => !isFolder && NAME.test(name));
  // In a root of many files it may be on a later page of the folder.
  const file = entry?.file ?? (pageInfo.hasNextPage ? { id: `${crate}/README.md` } : null);
  if (file === null) return null;
  try {
    const { preview } = await ask(ReadmeTextDocument, { id: file.id });
    if (!("text" in preview) || preview.text.trim() === "") return null;
    return { id: file.id, name: entry?.name ?? "README.md", ...preview };
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return null;
    throw error;
  }
}

/** The README as its writer laid it out; its links to files lead to those of the crate. */
export function Readme({ crate, readme }: { crate: string; readme: ReadmeFile }) {
  return (
    <Section id="readme" title={<bdi>{readme.name}</bdi>}>
      <Markdown text={readme.text} crate={crate} headings lead={LEAD_CHARS} />
      {readme.truncated && (
        <p>
          <a href={withQuery(recordPath(readme.id, "preview"), { crate })}>The whole file</a>
        </p>
      )}
    </Section>
  );
}
