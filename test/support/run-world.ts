import { EXAMPLES } from "../../src/model/examples.js";
import type { Answer, Json, RegistryClient, User } from "./registry-client.js";
import { setTimeout as sleep } from "node:timers/promises";
import { IMAGE } from "./servers/podman.js";

/** ms between two polls of a run: a container takes its time. */
const PAUSE = 80;

/** Whether a run is so far that its command has begun. */
export const inContainer = ({ stage, progress }: Json): boolean =>
  stage === "running" && (progress as Json | null)?.["unit"] === "seconds";

/** A user who has data, software and computations at a registry. */
export class RunWorld {
  constructor(
    readonly registry: RegistryClient,
    readonly user: User,
  ) {}

  /** A dataset, or software, with files that say they hold it. */
  async data(
    files: Readonly<Record<string, string>>,
    { kind = "dataset" }: { kind?: "dataset" | "software" } = {},
  ): Promise<string> {
    const { "@id": _id, distribution: _files, ...example } = EXAMPLES[kind];
    const ark = (await this.#made(kind, { ...example, owner: this.user.ark, distribution: [] }))[
      "@id"
    ] as string;
    for (const [name, text] of Object.entries(files)) await this.file(ark, name, text);
    return ark;
  }

  async file(of: string, name: string, text: string | Uint8Array): Promise<string> {
    const form = new FormData();
    form.set(
      "download",
      JSON.stringify({
        "@type": "evi:DataDownload",
        name,
        description: "A file for a run.",
        owner: this.user.ark,
        encodingFormat: "text/plain",
        contentSize: null,
        contentUrl: null,
        sha256: null,
        encodesCreativeWork: of,
      }),
    );
    form.set("file", new Blob([Buffer.from(text as Uint8Array)]), name);
    const answer = await this.registry.ask("/register", { token: this.user.token, body: form });
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.body["@id"] as string;
  }

  async computation(command: Json | string | string[] | null, more: Json = {}): Promise<string> {
    const { "@id": _id, ...example } = EXAMPLES.computation;
    return (
      await this.#made("computation", {
        ...example,
        owner: this.user.ark,
        container: IMAGE,
        command,
        usedSoftware: "",
        usedDataset: "",
        generated: [],
        ...more,
      })
    )["@id"] as string;
  }

  execute(ark: string, user: User = this.user): Promise<Answer> {
    return this.registry.ask(`/computation/execute/${ark}`, { method: "PUT", token: user.token });
  }

  /** Executes a new computation; answers the submission. */
  async asked(command: string, more: Json = {}): Promise<string> {
    const { status, text, body } = await this.execute(await this.computation(command, more));
    if (status !== 200) throw new Error(text);
    return body["submissionUUID"] as string;
  }

  /** Executes and waits for the end. */
  async run(ark: string): Promise<Json> {
    const { status, text, body } = await this.execute(ark);
    if (status !== 200) throw new Error(text);
    return this.until(body["submissionUUID"] as string, ({ completed }) => completed === true);
  }

  async until(submission: string, holds: (view: Json) => boolean): Promise<Json> {
    for (const begun = Date.now(); ; await sleep(PAUSE)) {
      const { body } = await this.registry.ask(`/computation/execute/status/${submission}`, {
        token: this.user.token,
      });
      if (holds(body)) return body;
      if (body["completed"]) throw new Error(`it has ended: ${JSON.stringify(body)}`);
      if (Date.now() - begun > 20_000)
        throw new Error(`still ${body["status"]} at ${body["stage"]}`);
    }
  }

  async #made(kind: string, body: Json): Promise<Json> {
    const answer = await this.registry.ask(`/${kind}`, { token: this.user.token, body });
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.body;
  }
}
