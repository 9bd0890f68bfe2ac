import { createClient, type Client } from "graphql-ws";
import { expect } from "vitest";
import { WebSocket } from "ws";
import type { Json } from "./registry-client.js";

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

export interface Change {
  id: string;
  kind: string;
  change: "CREATED" | "UPDATED" | "DELETED";
  revision: number;
  tombstone: { by: { id: string } | null; reason: string | null } | null;
  record: { __typename: string; name: string; publicationStatus: string } | null;
}
interface ChangeEvent {
  sequence: number;
  changes: Change[];
}
interface ChangeAnswer {
  data?: { recordChanges: ChangeEvent } | null;
  errors?: { message: string; extensions: Json }[];
}

export const RECORD_CHANGES = `subscription (
  $filter: RecordChangeFilter, $after: BigInt, $first: Int
) {
  recordChanges(filter: $filter, afterSequence: $after, first: $first) {
    sequence
    changes {
      id kind change revision tombstone { by { id } reason }
      record { __typename name publicationStatus }
    }
  }
}`;

/** Events of a subscription to changes, one after the other. */
export interface ChangeFeed {
  next(): Promise<ChangeEvent>;
  errors(): Promise<{ message: string; extensions: Json }[]>;
  /** Changes of the next events, until there are so many. */
  changes(count: number): Promise<Change[]>;
  leave(): unknown;
}

function feedOf(answers: AsyncIterator<unknown>, leave: () => unknown): ChangeFeed {
  const answer = async (): Promise<ChangeAnswer> => {
    const { value, done } = await answers.next();
    if (done) throw new Error("the feed has ended");
    return value as ChangeAnswer;
  };
  const next = async (): Promise<ChangeEvent> => {
    const { data, errors } = await answer();
    expect(errors).toBeUndefined();
    return data!.recordChanges;
  };
  return {
    next,
    leave,
    errors: async () => (await answer()).errors!,
    async changes(count) {
      const changes: Change[] = [];
      while (changes.length < count) changes.push(...(await next()).changes);
      return changes;
    },
  };
}

/** Subscribes to changes of records over a WebSocket. */
export function changesOverWebSocket(url: string, variables: object, token?: string): ChangeFeed {
  const client = webSocketClient(url, token);
  return feedOf(client.iterate({ query: RECORD_CHANGES, variables: variables as Json }), () =>
    client.dispose(),
  );
}

/** Subscribes to changes of records over server-sent events. */
export function changesOverEvents(url: string, variables: object, token?: string): ChangeFeed {
  const left = new AbortController();
  async function* answers(): AsyncGenerator {
    const response = await fetch(`${url}/graphql/stream`, {
      method: "POST",
      signal: left.signal,
      body: JSON.stringify({ query: RECORD_CHANGES, variables }),
      headers: {
        "Content-Type": "application/json",
        Accept: "text/event-stream",
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
    });
    let text = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const blocks = text.split("\n\n");
      text = blocks.pop()!;
      for (const block of blocks) {
        const data = /^data: (.+)$/m.exec(block)?.[1];
        if (data !== undefined) yield JSON.parse(data) as unknown;
      }
    }
  }
  return feedOf(answers(), () => left.abort());
}
