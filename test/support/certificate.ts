import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** False, with a warning, where openssl is not installed. */
export const opensslInstalled = spawnSync("openssl", ["version"]).status === 0;
if (!opensslInstalled)
  process.stderr.write(
    "\n!! SKIPPED: certificates are made with openssl; install it to run these tests.\n\n",
  );

/**
 * A certificate of a test's own for 127.0.0.1, which vouches for itself, and its key: files that
 * any user here may read.
 */
export class Certificate {
  readonly folder = mkdtempSync(join(tmpdir(), "arkgraph-tls-"));
  readonly key = join(this.folder, "key.pem");
  readonly file = join(this.folder, "certificate.pem");

  constructor() {
    chmodSync(this.folder, 0o755);
    execFileSync(
      "openssl",
      [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-keyout",
        this.key,
        "-out",
        this.file,
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
      ],
      { stdio: "ignore" },
    );
    chmodSync(this.key, 0o644);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
