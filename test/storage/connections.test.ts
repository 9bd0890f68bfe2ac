import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { KeptConnections } from "../../src/storage/connections.js";

const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

/** A server of one's own reading, and its address. */
async function serve(heard: (socket: Socket, bytes: string) => void): Promise<URL> {
  const server = createServer((socket) => {
    endings.push(() => socket.destroy());
    socket.on("error", () => {});
    socket.on("data", (bytes) => heard(socket, bytes.toString("latin1")));
  });
  endings.push(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

function client(): (url: URL, body: string) => Promise<string> {
  const connections = new KeptConnections(1);
  endings.push(() => connections.close());
  return async (url, body) => {
    const bytes = Buffer.from(body);
    const headers = { "Content-Length": String(bytes.length) };
    const { signal } = new AbortController();
    return text(await connections.send(url, { method: "POST", headers, signal }, bytes));
  };
}

const answer = (status: number, body: string): string =>
  `HTTP/1.1 ${status} x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe("KeptConnections", () => {
  it("does not read the answer to a refused body as the next answer", async () => {
    const taken = new Set<Socket>();
    const url = await serve((socket, bytes) => {
      // Refuses before it reads the body, which it takes for a request, and answers that one first.
      if (bytes.startsWith("POST /refuse")) {
        taken.add(socket);
        return void socket.write(answer(422, "refused"));
      }
      if (taken.has(socket)) socket.write(answer(200, "wrong"));
      socket.write(answer(200, "right"));
    });
    const send = client();
    expect(await send(new URL("/refuse", url), "GET / HTTP/1.1")).toBe("refused");
    expect(await send(url, "{}")).toBe("right");
  });

  it("sends a request again when the server closes a cached connection", async () => {
    let requests = 0;
    const url = await serve((socket) => {
      requests++;
      if (requests === 2) socket.destroy();
      else socket.write(answer(200, `answer ${requests}`));
    });
    const send = client();
    expect(await send(url, "{}")).toBe("answer 1");
    expect(await send(url, "{}")).toBe("answer 3");
  });

  it("does not send a request again when the server closes a new connection", async () => {
    let requests = 0;
    const url = await serve((socket) => {
      requests++;
      socket.destroy();
    });
    await expect(client()(url, "{}")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(requests).toBe(1);
  });
});
