// Adds to tsc's output what a published package holds: the command line as one file, the files that pages load, and
// the licences of what these bundles contain.
import { readFileSync, writeFileSync } from "node:fs";
import { parse } from "yaml";
import { bundleCli } from "./bundle-cli.mjs";
import { writeNotices } from "./notices.mjs";
import { compressWebAssets } from "./web-assets.mjs";

// The service reads the contract at each start: JSON takes a few milliseconds, YAML a few hundred.
const contract = parse(readFileSync(new URL("../openapi/openapi.yaml", import.meta.url), "utf8"));
writeFileSync(new URL("../dist/openapi.json", import.meta.url), JSON.stringify(contract));

const modules = await Promise.all([bundleCli(), compressWebAssets()]);
writeNotices(modules.flat());
