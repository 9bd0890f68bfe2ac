import type { TypedDocumentNode } from "@graphql-typed-document-node/core";
import { print } from "graphql";
import { createClient } from "graphql-ws";
import {
  ChangesDocument,
  type ChangesSubscription,
  MyDatasetsDocument,
  type MyDatasetsQuery,
  WhoAmIDocument,
} from "./documents.js";

type Dataset = MyDatasetsQuery["datasets"]["nodes"][number];

/** A client of one registry, for one caller. Its answers have the types of their documents. */
export class Registry {
  readonly #url: string;
  readonly #authorization: string;

  /** @param url for example `https://registry.example.org` */
  constructor(url: string, token: string) {
    this.#url = url;
    this.#authorization = `Bearer ${token}`;
  }

  /** @throws Error with the messages of the errors, when there is no data */
  async ask<Result, Variables>(
    document: TypedDocumentNode<Result, Variables>,
    variables: Variables,
  ): Promise<Result> {
    const response = await fetch(`${this.#url}/graphql`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: this.#authorization },
      body: JSON.stringify({ query: print(document), variables }),
    });
    const { data, errors } = (await response.json()) as {
      data?: Result | null;
      errors?: { message: string }[];
    };
    if (data) return data;
    throw new Error(errors?.map(({ message }) => message).join("\n") ?? response.statusText);
  }

  /** Every dataset of the caller, page by page. */
  async *myDatasets(): AsyncGenerator<Dataset> {
    const { me } = await this.ask(WhoAmIDocument, {});
    if (!me) throw new Error("The token belongs to nobody.");
    let after: string | null = null;
    do {
      const answer: MyDatasetsQuery = await this.ask(MyDatasetsDocument, { owner: me.id, after });
      yield* answer.datasets.nodes;
      const { hasNextPage, endCursor } = answer.datasets.pageInfo;
      after = hasNextPage ? endCursor : null;
    } while (after !== null);
  }

  /**
   * Changes of datasets, one event after the other; ends when the caller leaves the loop.
   * @param afterSequence `sequence` of an earlier event: nothing since then is missed
   */
  async *changes(afterSequence?: number): AsyncGenerator<ChangesSubscription["recordChanges"]> {
    const client = createClient({
      url: `${this.#url.replace(/^http/, "ws")}/graphql`,
      connectionParams: { Authorization: this.#authorization },
    });
    try {
      const events = client.iterate<ChangesSubscription>({
        query: print(ChangesDocument),
        variables: { filter: { kinds: ["DATASET"] }, afterSequence },
      });
      for await (const { data, errors } of events) {
        if (!data) throw new Error(errors?.[0]?.message);
        yield data.recordChanges;
      }
    } finally {
      await client.dispose();
    }
  }
}
