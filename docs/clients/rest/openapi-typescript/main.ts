/**
 * Signs in, uploads a crate, waits until it is stored, and asks for its evidence, its records and
 * its archive. The types in `client.d.ts` are made from the registry's description.
 */
import { readFileSync, writeFileSync } from "node:fs";
import createClient from "openapi-fetch";
import type { paths } from "./client.js";

const [base, email, password, crate, copy] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];
const client = createClient<paths>({ baseUrl: base });

/** The answer, where the request was not refused; as JSON where there are other formats. */
function answered<T>({ data, error }: { data?: T; error?: unknown }): Exclude<T, string> {
  if (data === undefined || typeof data === "string") throw new Error(JSON.stringify(error));
  return data as Exclude<T, string>;
}

const token = answered(
  await client.POST("/token", {
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: { username: email, password },
  }),
);
const headers = { authorization: `Bearer ${token.access_token}` };

const archive = new FormData();
archive.append("file", new Blob([readFileSync(crate)]), "crate.zip");
let submission = answered(
  await client.POST("/rocrate/upload-async", {
    headers,
    body: { file: "" },
    bodySerializer: () => archive,
  }),
);
while (!submission.completed) {
  await new Promise((resolve) => setTimeout(resolve, 200));
  submission = answered(
    await client.GET("/rocrate/upload/status/{submissionUUID}", {
      headers,
      params: { path: { submissionUUID: submission.submissionUUID } },
    }),
  );
}
if (!submission.success) throw new Error(JSON.stringify(submission.error));

const [naan, postfix] = submission.rocrateIdentifier!.replace("ark:", "").split("/", 2);
const path = { NAAN: naan!, postfix: postfix! };
const evidence = answered(
  await client.GET("/evidencegraph/query/ark:{NAAN}/{postfix}", { headers, params: { path } }),
);
const search = answered(
  await client.GET("/search/basic", { headers, params: { query: { query: "clusters" } } }),
);
const bytes = answered(
  await client.GET("/rocrate/download/ark:{NAAN}/{postfix}", {
    headers,
    params: { path },
    parseAs: "arrayBuffer",
  }),
);
writeFileSync(copy, Buffer.from(bytes));
console.log(submission.rocrateIdentifier);
console.log(`evidence: ${evidence["@graph"].length} nodes`);
console.log(`search: ${search.total_results} records`);
