import { copyFileSync, readFileSync } from "node:fs";
import { createServer as createPlain, type RequestListener } from "node:http";
import { createServer as createSecure } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { DockerClient, engineAddress } from "../../../src/adapters/containers/docker-client.js";
import { EngineAway, EngineRefusal } from "../../../src/adapters/containers/port.js";
import { ConfigError, readConfig } from "../../../src/config/config.js";
import { Certificate, opensslInstalled } from "../../support/certificate.js";

const servers: (Server & { closeAllConnections(): void })[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

const PING = { "Api-Version": "1.44" };
const engine = (answer: RequestListener, make?: Parameters<typeof listening>[1]): Promise<number> =>
  listening(
    (req, res) =>
      req.url === "/_ping" ? void res.writeHead(200, PING).end("OK") : answer(req, res),
    make,
  );
async function listening(
  answer: RequestListener,
  make: (listener: RequestListener) => Server & { closeAllConnections(): void } = createPlain,
): Promise<number> {
  const server = make(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}
const client = (port: number, timeout = 5000): DockerClient =>
  new DockerClient({ host: "127.0.0.1", port }, timeout);

describe("the client of a container engine", () => {
  it("uses the API version that the engine names, and reports the engine's own error messages", async () => {
    const port = await engine(
      (req, res) =>
        void (req.url === "/v1.44/info"
          ? res.end('{"ok":true}')
          : res.writeHead(409).end(JSON.stringify({ message: "in \n use" }))),
    );
    expect(await client(port).json("GET", "/info")).toEqual({ ok: true });
    await expect(client(port).json("DELETE", "/x")).rejects.toEqual(
      new EngineRefusal(409, "in use (status 409)"),
    );
  });

  it("waits at most CONTAINER_TIMEOUT for a silent engine, also in the middle of an answer", async () => {
    const port = await engine(
      (req, res) => void (req.url!.endsWith("half") && res.writeHead(200).write('{"ok":')),
    );
    await expect(client(port, 200).json("GET", "/silent")).rejects.toThrow(
      /within CONTAINER_TIMEOUT=200 ms/,
    );
    await expect(client(port, 200).json("GET", "/half")).rejects.toBeInstanceOf(EngineAway);
    const broken = await engine(
      (_req, res) => void res.writeHead(200, { "Content-Length": 10 }).end("<html>"),
    );
    await expect(client(broken).json("GET", "/info")).rejects.toBeInstanceOf(EngineAway);
  });

  it(
    "treats a proxy's answer for an unavailable engine as an outage, and caches nothing " +
      "from it",
    async () => {
      let away = true;
      const port = await listening((req, res) => {
        if (away) res.writeHead(req.url === "/_ping" ? 502 : 503).end("<html>Bad gateway</html>");
        else if (req.url === "/_ping") res.writeHead(200, { "Api-Version": "1.52" }).end("OK");
        else res.writeHead(req.url === "/v1.52/info" ? 200 : 400).end("{}");
      });
      const speaker = client(port);
      await expect(speaker.ping()).rejects.toBeInstanceOf(EngineAway);
      await expect(speaker.json("GET", "/info")).rejects.toThrow(
        /a proxy in front of it answered GET .* with status 502/,
      );
      away = false;
      expect(await speaker.json("GET", "/info")).toEqual({});
      away = true;
      await expect(speaker.json("GET", "/info")).rejects.toBeInstanceOf(EngineAway);
    },
  );

  it("stops sending when the engine refuses, and reports an error of the sent bytes as such", async () => {
    const port = await engine(
      (req, res) =>
        void (req.url!.endsWith("refuse")
          ? res.writeHead(507, { Connection: "close" }).end('{"message":"full"}')
          : req.resume().on("end", () => res.end())),
    );
    let sent = 0;
    const endless = (async function* () {
      for (;;) {
        sent++;
        yield new Uint8Array(65_536);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    await expect(client(port).json("PUT", "/refuse", { body: endless })).rejects.toThrow(
      /full|cannot be reached/,
    );
    const after = sent;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(sent - after).toBeLessThan(50);
    const faulty = (async function* () {
      yield new Uint8Array(10);
      throw new RangeError("the store is away");
    })();
    await expect(client(port).json("PUT", "/take", { body: faulty })).rejects.toThrow(RangeError);
  });

  it.skipIf(!opensslInstalled)(
    "and an engine on another host authenticate each other by CONTAINER_CERTS",
    async () => {
      const certificate = new Certificate();
      try {
        copyFileSync(certificate.file, join(certificate.folder, "ca.pem"));
        copyFileSync(certificate.file, join(certificate.folder, "cert.pem"));
        copyFileSync(certificate.key, join(certificate.folder, "key.pem"));
        const [cert, key] = [readFileSync(certificate.file), readFileSync(certificate.key)];
        const port = await engine(
          (_req, res) => void res.end("{}"),
          (listener) =>
            createSecure(
              { cert, key, ca: cert, requestCert: true, rejectUnauthorized: true },
              listener,
            ),
        );
        for (const scheme of ["https", "tcp"])
          expect(
            await new DockerClient(
              await engineAddress(`${scheme}://127.0.0.1:${port}`, certificate.folder),
              5000,
            ).json("GET", "/info"),
          ).toEqual({});
        await expect(
          new DockerClient(await engineAddress(`https://127.0.0.1:${port}`, null), 5000).json(
            "GET",
            "/info",
          ),
        ).rejects.toBeInstanceOf(EngineAway);
        await expect(
          engineAddress("https://engine", join(certificate.folder, "nowhere")),
        ).rejects.toThrow(/ENOENT/);
      } finally {
        certificate.remove();
      }
    },
  );

  it("gets the address of the engine from one setting", async () => {
    expect(await engineAddress("unix:///run/podman/podman.sock", null)).toEqual({
      socketPath: "/run/podman/podman.sock",
    });
    expect(await engineAddress("tcp://10.0.0.5", null)).toEqual({ host: "10.0.0.5", port: 2375 });
    for (const CONTAINER_HOST of [
      "podman.sock",
      "unix://relative",
      "ssh://host",
      "tcp://host/path",
      "https://u:p@host",
    ])
      expect(() => readConfig({ CONTAINER_HOST }), CONTAINER_HOST).toThrow(ConfigError);
    expect(() => readConfig({ CONTAINER_CERTS: "/certs" })).toThrow(/set CONTAINER_HOST/);
    expect(() => readConfig({ CONTAINER_CERTS: "/certs", CONTAINER_HOST: "unix:///x" })).toThrow(
      /set CONTAINER_HOST/,
    );
    for (const EXECUTION_USER of ["root", "0:0", "0:5", "5:0", "5"])
      expect(() => readConfig({ EXECUTION_USER }), EXECUTION_USER).toThrow(/65534:65534/);
  });
});
