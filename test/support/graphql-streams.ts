import { createClient, type Client } from "graphql-ws";
import { WebSocket } from "ws";

/** A WebSocket client of a registry, with a token or without. */
export function webSocketClient(url: string, token?: string): Client {
  return createClient({
    url: `${url.replace("http", "ws")}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    ...(token === undefined ? {} : { connectionParams: { Authorization: `Bearer ${token}` } }),
  });
}

/** All events of a stream of server-sent events, parsed. */
// eslint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
export async function eventsOf(response: Response): Promise<{ event: string; data: any }[]> {
  return (await response.text())
    .split("\n\n")
    .filter((block) => block.startsWith("event:"))
    .map((block) => {
      const [event, ...lines] = block.split("\n");
      const text = lines
        .filter((line) => line.startsWith("data"))
        .map((line) => line.replace(/^data: ?/, ""))
        .join("\n");
      return {
        event: event!.slice("event: ".length),
        data: text === "" ? null : (JSON.parse(text) as unknown),
      };
    });
}
