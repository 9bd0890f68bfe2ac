import { ERRORS } from "../errors.js";

/** `docs/errors.md`: every stable code with its status. */
export function errorsPage(): string {
  return `# Errors

Every refusal carries a stable code: in \`code\` of a REST answer (\`{"detail", "code"}\`), in \`extensions.code\` of a GraphQL error.
A 422 of the REST door has no code: its \`detail\` lists every broken rule with its place (\`loc\`), wording (\`msg\`) and type, in the vocabulary of pydantic 2.
A crate that is refused with 409 or 413 has the code of what is wrong with it, see [crates](crates.md).
A 500 shows an id, and the log has the cause under that id.

This page is printed from the code by \`npm run generate\`.

| Code | Status | Meaning |
|---|---|---|
${Object.entries(ERRORS).map(([code, { status, meaning }]) => `| \`${code}\` | ${status} | ${meaning.replaceAll("|", "\\|")} |`).join("\n")}
`;
}
