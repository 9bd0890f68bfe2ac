import { request, type ClientRequest } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { largeCrate } from "./large-crate.js";
import type { Answer, User } from "./registry-client.js";
import { RegistryProcess } from "./registry-process.js";
import type { Topology } from "./topology.js";

/** How long the nodes stand still, ms: longer than any lease and time-out that nodes go by. */
const HELD = 60_000;
/** Clients that create records one after the other at the node that is held. */
const WRITERS = 8;
const BOUNDARY = "----arkgraph-held";

/**
 * The outcome of a create: the status of its answer; `undefined` while there is none, 0 when its
 * connection ended without one.
 */
type Outcomes = Map<string, number | undefined>;

/**
 * A worker amid a crate and an api node with open requests, both stopped like a suspended machine:
 * they keep their memory, connections and locks, and do not notice the time that passes.
 */
export class HeldNodes {
  readonly outcomes: Outcomes = new Map();
  /** Stays open over all of it, event after event. */
  progress!: Promise<string>;
  /** Asked before the nodes stand still, answered after. */
  synchronous!: Promise<Answer>;
  #half!: {
    upload: ClientRequest;
    rest: Buffer;
    answered: Promise<{ status: number; text: string }>;
  };
  #writers!: Promise<void>[];
  #since = 0;
  #over = false;

  readonly #cluster: Topology;
  readonly #user: User;

  private constructor(
    cluster: Topology,
    user: User,
    readonly worker: RegistryProcess,
    readonly api: RegistryProcess,
    readonly submission: string,
  ) {
    this.#cluster = cluster;
    this.#user = user;
  }

  /** @param entities of a crate @param settings of both nodes */
  static async hold(
    cluster: Topology,
    user: User,
    entities: number,
    settings: Record<string, string>,
  ): Promise<HeldNodes> {
    const worker = await cluster.addWorker(settings);
    const api = await RegistryProcess.start({
      env: { ...cluster.servers.env, ROLE: "api", BASE_URL: cluster.url, ...settings },
    });
    const accepted = await cluster.upload(
      await largeCrate("a worker that stands still", entities),
      user.token,
    );
    if (accepted.status !== 200) throw new Error(`not accepted: ${accepted.text}`);
    const submission = accepted.body["submissionUUID"] as string;
    const held = new HeldNodes(cluster, user, worker, api, submission);
    for (let stage: unknown; stage === null || stage === undefined; await sleep(5))
      stage = (await cluster.ask(`/rocrate/upload/status/${submission}`, { token: user.token }))
        .body["stage"];
    worker.signal("SIGSTOP");
    await held.#open(entities);
    api.signal("SIGSTOP");
    held.#since = Date.now();
    return held;
  }

  /** Requests without an answer. */
  get open(): string[] {
    return [...this.outcomes].filter(([, status]) => status === undefined).map(([ark]) => ark);
  }

  /** Both go on once the time is over, and everything that was asked of them is answered. */
  async letGo(): Promise<{ upload: { status: number; text: string } }> {
    await sleep(Math.max(0, this.#since + HELD - Date.now()));
    this.#over = true;
    for (const node of [this.worker, this.api]) node.signal("SIGCONT");
    this.#half.upload.end(this.#half.rest);
    await Promise.all(this.#writers);
    return { upload: await this.#half.answered };
  }

  /** For `afterAll`: a node that is still held could not end. */
  async stop(): Promise<void> {
    for (const node of [this.worker, this.api]) node.signal("SIGCONT");
    this.#half?.upload.destroy();
    await this.api.stop();
  }

  async #open(entities: number): Promise<void> {
    const { api } = this;
    const user = this.#user;
    this.progress = fetch(`${api.url}/rocrate/upload/status/${this.submission}`, {
      headers: { Authorization: `Bearer ${user.token}`, Accept: "text/event-stream" },
    }).then((answer) => answer.text());
    this.synchronous = api.upload(
      await largeCrate("a crate that is waited for", entities),
      user.token,
      { path: "/rocrate/upload" },
    );
    this.#half = await this.#halfUpload(await largeCrate("a crate that is half sent", entities));
    // Its own and the worker's; the half one is none yet.
    for (let known = 0; known < 2; await sleep(20))
      known = (
        (await this.#cluster.ask("/rocrate/upload/status", { token: user.token }))
          .body as unknown as unknown[]
      ).length;
    this.#writers = Array.from({ length: WRITERS }, (_, writer) => this.#write(writer));
    // Long enough for several rounds of them; where it ends is chance.
    await sleep(1_000);
    for (const promise of [this.progress, this.synchronous, this.#half.answered, ...this.#writers])
      promise.catch(() => {});
  }

  async #write(writer: number): Promise<void> {
    for (let number = 0; !this.#over; number++) {
      const ark = `ark:99999/held-${writer}-${number}`;
      this.outcomes.set(ark, undefined);
      // When the node had not begun to read a request before it stood still, it may find the
      // connection idle for too long and close it without an answer.
      this.outcomes.set(
        ark,
        await this.create(this.api, ark).then(
          ({ status }) => status,
          () => 0,
        ),
      );
    }
  }

  /** Creates a software record; the parallel tests create none. */
  create(node: { ask: RegistryProcess["ask"] }, ark: string): ReturnType<RegistryProcess["ask"]> {
    return node.ask("/software", {
      token: this.#user.token,
      body: {
        "@id": ark,
        "@type": "evi:Software",
        name: ark,
        description: "Asked for while a node stood still.",
        owner: this.#user.ark,
      },
    });
  }

  async #halfUpload(archive: Uint8Array) {
    const body = Buffer.concat([
      Buffer.from(
        `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; ` +
          `filename="crate.zip"\r\nContent-Type: application/zip\r\n\r\n`,
      ),
      archive,
      Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
    ]);
    const headers = {
      Authorization: `Bearer ${this.#user.token}`,
      "Content-Type": `multipart/form-data; boundary=${BOUNDARY}`,
      "Content-Length": body.length,
    };
    const upload = request(`${this.api.url}/rocrate/upload-async`, { method: "POST", headers });
    const answered = new Promise<{ status: number; text: string }>((resolve, reject) => {
      upload.on("error", reject).on("response", (answer) => {
        let text = "";
        answer
          .on("data", (chunk: Buffer) => (text += chunk.toString()))
          .on("end", () => resolve({ status: answer.statusCode!, text }))
          .on("error", reject);
      });
    });
    const half = body.length >> 1;
    await new Promise((resolve) => upload.write(body.subarray(0, half), resolve));
    return { upload, rest: body.subarray(half), answered };
  }
}
