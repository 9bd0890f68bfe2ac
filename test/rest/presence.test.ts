import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { presence } from "../../src/rest/request.js";

const server = createServer();
let port: number;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => server.close());

/** A request whose response nobody has answered, and its client. */
async function asked(): Promise<{ res: ServerResponse; client: Socket; leave(): Promise<void> }> {
  const client = connect(port, "127.0.0.1");
  client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const [, res] = (await once(server, "request")) as [unknown, ServerResponse];
  client.resume();
  const leave = async () => {
    const closed = once(res, "close");
    client.destroy();
    await closed;
  };
  return { res, client, leave };
}

describe("the presence of a client", () => {
  it("ends when the client leaves before its answer", async () => {
    const { res, leave } = await asked();
    const signal = presence({ res });
    expect(signal.aborted).toBe(false);
    await leave();
    expect(signal.reason).toMatchObject({ code: "BAD_REQUEST" });
  });

  it("has ended where the client left before anybody asked for it", async () => {
    const { res, leave } = await asked();
    await leave();
    expect(presence({ res }).reason).toMatchObject({ code: "BAD_REQUEST" });
  });

  it("does not end with a complete answer, asked for before or after it", async () => {
    const { res, client } = await asked();
    const signal = presence({ res });
    const closed = once(res, "close");
    res.end("answer");
    await closed;
    expect([signal.aborted, presence({ res }).aborted]).toEqual([false, false]);
    client.destroy();
  });
});
