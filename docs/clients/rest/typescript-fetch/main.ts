/**
 * Signs in, uploads a crate, waits until it is stored, and asks for its evidence, its records and
 * its archive.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { AccountsApi, Configuration, CratesApi, EvidenceApi, SearchApi } from "./client/index.js";

const [basePath, username, password, crate, copy] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];
const token = await new AccountsApi(new Configuration({ basePath })).token({ username, password });
const signedIn = new Configuration({ basePath, accessToken: `Bearer ${token.accessToken}` });
const crates = new CratesApi(signedIn);

let submission = await crates.uploadCrateAsync({ file: new Blob([readFileSync(crate)]) });
while (!submission.completed) {
  await new Promise((resolve) => setTimeout(resolve, 200));
  const { submissionUUID } = submission;
  submission = (await crates.uploadStatus({ submissionUUID })) ?? submission;
}
if (!submission.success) throw new Error(JSON.stringify(submission.error));

const [nAAN, postfix] = submission.rocrateIdentifier!.replace("ark:", "").split("/", 2) as [
  string,
  string,
];
const evidence = await new EvidenceApi(signedIn).queryEvidence({ nAAN, postfix });
const search = await new SearchApi(signedIn).searchBasic({ query: "clusters" });
const archive = await crates.downloadCrate({ nAAN, postfix });
writeFileSync(copy, Buffer.from(await archive.arrayBuffer()));
console.log(submission.rocrateIdentifier);
console.log(`evidence: ${evidence.atGraph.length} nodes`);
console.log(`search: ${search.totalResults} records`);
