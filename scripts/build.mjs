// Adds to tsc's output what a published package holds: the command line as one file, the files that pages load, and
// the licences of what these bundles contain.
import { bundleCli } from "./bundle-cli.mjs";
import { writeNotices } from "./notices.mjs";
import { compressWebAssets } from "./web-assets.mjs";

const modules = await Promise.all([bundleCli(), compressWebAssets()]);
writeNotices(modules.flat());
