import type { LeaseStore, RecordStore } from "../../src/storage/records/port.js";
import {
  openPostgresRecordStore,
  type PostgresOptions,
} from "../../src/storage/records/postgres/index.js";
import { create, linkTo } from "../conformance/records/fixtures.js";

export type Node = RecordStore & LeaseStore;

/**
 * Stores of a test, each as another node would have it open; closed together when the test is over.
 */
export class Nodes {
  #opened: Node[] = [];

  async open(url: string, more: Partial<PostgresOptions> = {}): Promise<Node> {
    const store = await openPostgresRecordStore({
      url,
      pool: 6,
      timeout: 20_000,
      connectTimeout: 3_000,
      poll: 50,
      ...more,
    });
    this.#opened.push(store);
    return store;
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = [];
    await Promise.all(opened.map((store) => store.close()));
  }
}

/** The error of a call while the database is unavailable. */
export const AWAY = { code: "STORE_UNAVAILABLE", status: 503 };

/** Three records that belong to one commit. */
export const three = (name: string): ReturnType<typeof create>[] =>
  ["a", "b", "c"].map((part) =>
    create(`ark:99999/${name}/${part}`, { links: [linkTo(`ark:99999/${name}/a`)] }),
  );
