import { FINDING_CODES } from "../use-cases/crates/finding-codes.js";

const table = (severity: "REQUIRED" | "RECOMMENDED"): string => Object.entries(FINDING_CODES)
  .filter(([code, entry]) => entry.severity === severity && code !== "MORE_FINDINGS")
  .map(([code, { status, meaning, fix }]) => `| \`${code}\` |${severity === "REQUIRED" ? ` ${status} |` : ""} ${meaning.replaceAll("|", "\\|")} | ${fix.replaceAll("|", "\\|")} |`).join("\n");

/** `docs/crates.md`: what is taken in, told and refused, with the code for each. */
export function cratesPage(): string {
  return `# Crates

What the registry takes in, what it advises, and what it refuses. This page is printed from the code by \`npm run generate\`.

## What is taken in

- **RO-Crate 1.0 to 1.3**, and the older layout in which a crate is one object with its own \`@graph\` and no descriptor.
- **Archives** in zip format, \`.eln\` files among them, deflated or stored, up to the limits in [settings](settings.md). The metadata file is the shallowest \`ro-crate-metadata.json\` (or \`.jsonld\`), however deep it lies; its folder is the crate. Deeper ones are nested crates, and become crates of their own with their parent's upload. One that you uploaded before is linked when its metadata file says the same, and updated with \`update=true\` (\`CRATE_LINKED\`).
- **Metadata alone**: \`POST /rocrate/metadata\` takes the document of a crate without files.
- **The crate itself** is what the descriptor's \`about\` names, never an entity by its position. Where that is not \`./\` and \`./\` is described too, they are two records.
- **The descriptor** is the record \`<crate>/ro-crate-metadata.json\`, with everything that it states. References to the metadata file lead to it. Searches, scores, summaries and counts of a crate leave it out.
- **Identifiers**: an ARK stays. A relative path becomes \`<crate>/<path>\`, percent-encoding kept. Everything else (\`#x\`, \`_:x\`, \`urn:\`, \`arcp:\`, a URL) becomes \`<crate>/entity/<words>-<hash>\`; a URL stays the node's IRI and is named by \`schema:sameAs\`.
- **Documents** keep what the crate says: every key, value, null and empty list. An object without \`@id\` stays in the entity that holds it; an object with one that says more becomes a record too. \`@base\` moves nothing: paths are those of the archive.
- **Contexts** come from copies in the registry (RO-Crate, the workflow-run and test terms of RO-Crate, LDaC, schema.org); no connection is opened. A context that is not among them stays in the documents, and terms that only it explains have no meaning in the graph (\`UNKNOWN_CONTEXT\`). A wrong definition is left out of its context (\`TERM_INVALID\`).

What may be claimed:

- An identifier below a record (\`<its ARK>/…\`) needs the right to change that record, deleted or not (\`IDENTIFIER_BELOW\`).
- An ARK that ends in the name of an operation, holds hidden characters or a percent-encoded hyphen, or has an authority that begins with zero is refused (\`INVALID_ID\`). A file called \`download\` gets the identifier \`<crate>/%64ownload\`.

What comes out:

- **The archive as it was uploaded** is for those who may read every member that came in it. Others get a 403 that names \`?format=zip\`.
- **Descriptor and \`@context\`** as they were given. Definitions of terms that the given context lacks follow it; one object stays one object. A crate without a descriptor, or one that was not uploaded, gets one that claims the version of the RO-Crate context that it has, 1.2 where it has none.
- **Nested objects** as they went in. One that states what the entity's own record no longer states is written as a reference.
- **The same records** when it is uploaded again with \`update=true\`: no revision is made. An archive that was packed again replaces the stored one only when a record changes.
- **\`GET /rocrate/ark:…?format=zip\`** packs the crate anew and leaves out what the caller may not read.
- **Deletion** of a member, or of its content, deletes the archive as it was uploaded (410 for everybody). Replaced content stays in it; delete the content to take it out.
- **Files that no entity describes** follow the crate, and are served at their address before any record that is registered there later.

What a crate says is never dropped. In the graph,

- a term that no context explains, or that one takes the meaning of (\`null\`), stands as \`urn:arkgraph:term:<term>\` (\`LOST_TERM\`);
- a member that breaks the rules of JSON-LD stands as \`urn:arkgraph:term:<member>\` with its value as a JSON literal (\`JSONLD_INVALID\`);
- what an IRI cannot hold is percent-encoded.

## Look before you upload

\`POST /rocrate/validate\` runs the checks of an upload on an archive (\`multipart/form-data\`, field \`file\`) or on a metadata document (\`application/ld+json\` or \`application/json\`), and stores nothing. A document alone is judged as \`POST /rocrate/metadata\` would. With \`update=true\` it tells what an update would do. GraphQL has the same as \`planCrate\`.

\`\`\`sh
curl -s $BASE/rocrate/validate -H "Authorization: Bearer $TOKEN" -F file=@crate.zip
curl -s $BASE/rocrate/validate -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/ld+json' --data-binary @ro-crate-metadata.json
\`\`\`

The answer is 200 also when the crate would be refused: \`conforms\` says which. An upload stops at its first stage that fails; a validation goes to the end, to tell everything at once.

| Member | Meaning |
|---|---|
| \`conforms\` | The upload would be taken in. |
| \`rocrateIdentifier\` | Identifier of the crate. One that is minted is another at the upload. |
| \`records\` | How many records of each kind an upload would create. |
| \`counts\` | How many identifiers are in each of the next four; those lists end at PLAN_LIST_LIMIT. |
| \`minted\` | Identifiers that would be made, each with the \`@id\` it stands for. |
| \`kept\` | ARKs of the crate that would be taken as they are. |
| \`known\` | Records of yours already. They say the same and the crate would share them; with \`update=true\` they may also change. |
| \`conflicting\` | Identifiers that are taken: the identifier, the kind of its record, and nothing else of it. |
| \`warned\` | Advice (\`RECOMMENDED\`). |
| \`refused\` | Everything else that stands in the way (\`REQUIRED\`). |
| \`changes\` | With \`update=true\`, the records that would be \`created\`, \`changed\` (another revision), left \`unchanged\`, \`removed\` (deleted: the crate does not describe them any more) and \`revived\` (deleted before, described again), each with its number in \`counts\`. Those in \`conflicting\` are in none of them. Null without \`update\`, and where not every entity could be read to its end. |

A finding has \`file\`, \`pointer\` (JSON pointer), \`line\` and \`column\` of a JSON error, \`severity\`, \`code\`, \`message\` and \`fix\`. Of one code 200 are listed; \`MORE_FINDINGS\` says how many more there are.

A submission that failed lists the same codes in \`error\`, one that went in lists advice in \`warnings\`.

## What is refused

\`REQUIRED\`: what cannot be stored faithfully, what is not safe to unpack, what goes beyond a limit, and identifiers that are taken. The status is that of \`POST /rocrate/upload\` and \`POST /rocrate/metadata\`; their answer has the code as \`code\`, and of a 422 as \`type\` of each item.

| Code | Status | Meaning | Fix |
|---|---|---|---|
${table("REQUIRED")}

## What is advised

\`RECOMMENDED\`: what RO-Crate asks for, or a record of its kind should have. The crate goes in all the same.

| Code | Meaning | Fix |
|---|---|---|
${table("RECOMMENDED")}
`;
}
