import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { SETTINGS } from "../../src/config/config.js";
import { packageRoot } from "../../src/package-root.js";
import { DOI_CODES } from "../../src/services/doi/doi.js";
import { bodyOf } from "../support/bodies.js";
import { DataCiteServer } from "../support/datacite-server.js";
import { LiveRegistry } from "../support/live-registry.js";
import { hasTools } from "../support/shell-tools.js";

const page = readFileSync(join(packageRoot, "docs", "dois.md"), "utf8");
const tools = hasTools("docs/dois.md", "bash", "curl", "jq");

describe("docs/dois.md", () => {
  it("lists every code with its meaning, and names existing settings", () => {
    const listed = Object.fromEntries(
      [...page.matchAll(/^\| `([A-Z_]+)` \| ([^|]*) \|$/gm)].map(([, code, meaning]) => [
        code,
        meaning,
      ]),
    );
    expect(listed).toEqual(DOI_CODES);
    const named = [...page.matchAll(/`((?:DATACITE|DOI|BASE|OUTAGE)_[A-Z_]+)`/g)]
      .map(([, name]) => name!)
      .filter((name) => !(name in DOI_CODES));
    expect(named.filter((name) => !(name in SETTINGS))).toEqual([]);
  });

  it.skipIf(!tools)("has an example that runs as printed", async () => {
    const example = /^```sh\n([\s\S]*?)^```/m.exec(page)![1]!;
    const datacite = await DataCiteServer.start();
    const registry = await LiveRegistry.start({
      DATACITE_URL: datacite.url,
      DATACITE_REPOSITORY: "TEST.REPO",
      DATACITE_PASSWORD: "secret pass",
      DATACITE_PREFIX: "10.5072",
      DOI_INTERVAL: "100ms",
    });
    try {
      const ada = await registry.user("Ada");
      const { body } = await registry.ask("/dataset", {
        token: ada.token,
        body: bodyOf("dataset", ada.ark),
      });
      const env = { ...process.env, BASE: registry.url, TOKEN: ada.token, ARK: body["@id"] };
      const { stdout } = await promisify(execFile)(
        "bash",
        ["-c", `set -euo pipefail\n${example}`],
        { env },
      );
      const doi = stdout.split("\n")[0]!;
      await vi.waitFor(() => expect(datacite.dois.get(doi)).toMatchObject({ state: "findable" }), {
        timeout: 100_000,
        interval: 50,
      });
    } finally {
      await registry.stop();
      await datacite.stop();
    }
  });
});
