// Makes of tsc's output what a published package holds: bundles, the files of other packages that pages load, and
// the licences of what was bundled.
import { bundleCli } from "./bundle-cli.mjs";
import { bundleOtlp } from "./bundle-otlp.mjs";
import { bundleServer } from "./bundle-server.mjs";
import { writeNotices } from "./notices.mjs";
import { compressWebAssets } from "./web-assets.mjs";

const modules = await Promise.all([bundleCli(), bundleOtlp(), bundleServer(), compressWebAssets()]);
writeNotices(modules.flat());
