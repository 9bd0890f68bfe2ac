import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { LoadGenerator } from "../../bench/support/load.js";
import { hasWrk } from "../../bench/support/wrk.js";

// eslint-disable-next-line no-console
if (!hasWrk) console.warn("SKIPPED: wrk is not installed; apt-get install -y wrk");

describe.skipIf(!hasWrk)("load from wrk", () => {
  const BODY = '{"name":"a \\"quoted\\" \\\\ name, ä\\u0000"}';
  const seen = {
    paths: new Set<string>(),
    bodies: new Set<string>(),
    requests: 0,
    first: undefined as IncomingMessage | undefined,
  };
  const server = createServer((request, response) => {
    seen.first ??= request;
    seen.requests++;
    seen.paths.add(request.url!);
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      seen.bodies.add(body);
      response.statusCode = request.url === "/refused" ? 404 : 200;
      response.end("{}");
    });
  });
  const load = new LoadGenerator();
  let url: string;
  beforeAll(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(
    () =>
      void Object.assign(seen, {
        paths: new Set(),
        bodies: new Set(),
        requests: 0,
        first: undefined,
      }),
  );
  afterAll(async () => {
    load.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it("sends method, headers and body byte for byte, and counts what was answered", async () => {
    const { done, failed, perSecond } = await load.run({
      url: `${url}/dataset`,
      connections: 2,
      seconds: 1,
      method: "POST",
      headers: { Authorization: 'Bearer "a\\b"', "Content-Type": "application/json" },
      body: BODY,
    });
    expect(seen.first).toMatchObject({
      method: "POST",
      url: "/dataset",
      headers: { authorization: 'Bearer "a\\b"', "content-type": "application/json" },
    });
    expect([...seen.bodies]).toEqual([BODY]);
    expect(failed).toBe(0);
    // Those that were on their way at the end are answered and not counted.
    expect(done).toBeGreaterThan(0);
    expect(seen.requests - done).toBeLessThanOrEqual(2);
    expect(perSecond).toBeGreaterThan(0);
  });

  it("requests every path, and counts a refusal as a failure", async () => {
    const paths = ["/ark:99999/a", "/ark:99999/b", "/ark:99999/c"];
    await load.run({ url, connections: 2, seconds: 1, paths });
    expect([...seen.paths].sort()).toEqual(paths);
    await expect(
      load.run({ url, connections: 2, seconds: 1, paths: ["/ark:99999/a", "/refused"] }),
    ).rejects.toThrow(/\d+ of \d+ requests to .* failed/);
  });
});
