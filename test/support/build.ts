import { execFileSync } from "node:child_process";
import { packageRoot } from "../../src/package-root.js";

/** Threads run what was built; a test run begins with a fresh build. */
export default function build(): void {
  execFileSync("npm", ["run", "-s", "build"], { cwd: packageRoot, stdio: "inherit" });
}
