import { run } from "../program.js";

await run(["demo", ...process.argv.slice(2)]);
