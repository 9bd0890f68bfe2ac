import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer as createPlain } from "node:http";
import { createServer, type Server } from "node:https";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failure } from "../support/client-rig.js";
import { useFolder } from "./terminal.js";

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
if (!hasOpenssl)
  process.stderr.write(
    "\n!! SKIPPED: certificates are made with openssl; install it to run these tests.\n\n",
  );

const folder = useFolder();
let server: Server;
let elsewhere: ReturnType<typeof createPlain>;
let port = 0;
const seen: (string | undefined)[] = [];

describe.skipIf(!hasOpenssl)("a registry behind TLS", () => {
  beforeAll(async () => {
    const cwd = folder.path();
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
        "key.pem",
        "-out",
        "own.pem",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=DNS:localhost",
      ],
      { cwd, stdio: "ignore" },
    );
    const listening = (open: Server | typeof elsewhere): Promise<number> =>
      new Promise((resolve) =>
        open.listen(0, () => resolve((open.address() as { port: number }).port)),
      );
    elsewhere = createPlain((req, res) => {
      seen.push(req.headers.authorization);
      res.end('{"@id":"ark:99999/away"}');
    });
    const unavailable = await listening(elsewhere);
    server = createServer(
      { key: readFileSync(join(cwd, "key.pem")), cert: readFileSync(join(cwd, "own.pem")) },
      (req, res) => {
        seen.push(req.headers.authorization);
        if (req.url!.includes("away"))
          res.writeHead(302, { Location: `http://localhost:${unavailable}/x` }).end();
        else if (req.url!.includes("round")) res.writeHead(302, { Location: req.url! }).end();
        else res.end('{"@id":"ark:99999/here"}');
      },
    );
    port = await listening(server);
  });
  afterAll(() => {
    server?.close();
    elsewhere?.close();
  });
  const get = (ark: string, host = "localhost", trusting = true) =>
    folder.run(["get", ark, "--server", `https://${host}:${port}`], undefined, {
      ARKGRAPH_TOKEN: "the-token",
      HOME: folder.path(),
      ...(trusting ? { NODE_EXTRA_CA_CERTS: join(folder.path(), "own.pem") } : {}),
    });

  it("is used when its certificate is trusted, and reported in one line when it is not", async () => {
    expect(JSON.parse((await get("ark:99999/here")).stdout)).toEqual({ "@id": "ark:99999/here" });
    expect(await get("ark:99999/here", "localhost", false)).toEqual(
      failure(
        /the certificate of https:\/\/localhost:\d+ is not trusted \(\w+\): set NODE_EXTRA_CA_CERTS to the certificate of the authority that signed it/,
      ),
    );
    expect(await get("ark:99999/here", "127.0.0.1")).toEqual(
      failure(
        /the certificate of https:\/\/127\.0\.0\.1:\d+ is for another host: is the name right\?/,
      ),
    );
  });

  it("is followed to another resolver without the token, for a bounded number of redirects", async () => {
    seen.length = 0;
    expect(JSON.parse((await get("ark:12345/away")).stdout)).toEqual({ "@id": "ark:99999/away" });
    expect(seen).toEqual(["Bearer the-token", undefined]);
    expect(await get("ark:12345/round")).toEqual(
      failure(/https:\/\/localhost:\d+ redirects too often/),
    );
  });
});
