import { setTimeout as sleep } from "node:timers/promises";
import { readTar } from "../tar/read.js";
import { folders, writeTar, type TarFile } from "../tar/write.js";
import { EngineRefusal, type ContainerRun, type InputPlace, type OutputEntry, type RunOwner, type RunState } from "../port.js";
import { piecesOf, type DockerClient } from "./client.js";
import { containerName, loaderName, volumeName, PLACES } from "./container-spec.js";
import { logText } from "./log-text.js";

/** How often a removal is tried, and the first pause between two, ms. */
const REMOVALS = 6;
const REMOVAL_PAUSE = 50;
/** An empty folder in each volume. */
const MARK = ".arkgraph/";

interface Inspected { State: { Running: boolean; Restarting?: boolean; Status?: string; ExitCode: number; OOMKilled: boolean; StartedAt: string; FinishedAt: string } }
interface Usage { Volumes?: { Name: string; UsageData?: { Size?: number } | null }[] | null }

/** One run on a Docker-compatible engine. Bytes go in and out as archives, so that the engine may be on another host. */
export class DockerRun implements ContainerRun {
  constructor(readonly id: string, private readonly client: DockerClient, private readonly owner: RunOwner) {}

  async put(place: InputPlace, files: AsyncIterable<TarFile>): Promise<void> {
    await this.client.json("PUT", `/containers/${loaderName(this.owner)}/archive`, { query: { path: `/${place}` }, body: writeTar(files) });
  }

  /**
   * Makes `/outputs` writable for the run's user: Docker takes the mode from the folder's entry in what lies above, Podman from
   * `./`. Podman would also give a volume what the image has at its place: the content to one that is empty, owner and mode of the
   * folder at the first start with it. So none stays empty, and the first start is over before.
   */
  async openFolders(): Promise<void> {
    const loader = `/containers/${loaderName(this.owner)}`;
    const path = `${loader}/archive`;
    const put = (place: string, modes: Readonly<Record<string, number>>) => this.client.json("PUT", path, { query: { path: place }, body: folders(modes) });
    for (const place of PLACES) await put(`/${place}`, { [MARK]: 0o555 });
    // Its program is nowhere: it is mounted, and does not run.
    if ((await this.client.server()).podman) await this.client.json("POST", `${loader}/start`).catch(ifRefused);
    await put("/", { "outputs/": 0o777 });
    await put("/outputs", { "./": 0o777 });
    const answer = await this.client.open("HEAD", path, { query: { path: "/outputs" } });
    answer.resume();
    const { mode } = JSON.parse(Buffer.from(String(answer.headers["x-docker-container-path-stat"] ?? ""), "base64").toString("utf8") || "{}") as { mode?: number };
    if (((mode ?? 0) & 0o007) !== 0o007) throw new EngineRefusal(500, "the container engine did not open /outputs to the run's user");
  }

  async start(): Promise<void> {
    await this.client.json("POST", `/containers/${this.id}/start`);
  }

  async state(): Promise<RunState> {
    const { State: { Running, Restarting, Status, ExitCode, OOMKilled, StartedAt, FinishedAt } } = await this.client.json<Inspected>("GET", `/containers/${this.id}/json`);
    // Podman says so for a moment between the end of the process and knowing how it ended.
    if (Running || Restarting === true || Status === "stopping" || Status === "created") return { running: true };
    return { running: false, exitCode: ExitCode, outOfMemory: OOMKilled, startedAt: StartedAt, finishedAt: FinishedAt };
  }

  async outputSize(): Promise<number | undefined> {
    // Docker refuses while it counts for somebody else: then it is the next look that tells.
    const usage = await this.client.json<Usage>("GET", "/system/df", { query: { type: "volume" } }).catch(ifRefused);
    const size = usage?.Volumes?.find(({ Name }) => Name === volumeName(this.owner, "outputs"))?.UsageData?.Size;
    return size === undefined || size < 0 ? undefined : size;
  }

  async log(bytes: number): Promise<string> {
    const answer = await this.client.open("GET", `/containers/${this.id}/logs`, { query: { stdout: "1", stderr: "1" } });
    return logText(piecesOf(answer), bytes);
  }

  async *outputs(): AsyncGenerator<OutputEntry> {
    const answer = await this.client.open("GET", `/containers/${this.id}/archive`, { query: { path: "/outputs" } });
    let root: string | undefined;
    for await (const { name, ...entry } of readTar(piecesOf(answer))) {
      const path = name === null ? null : partsOf(name);
      // The folder itself comes first; engines differ in what they call it.
      if (root === undefined) root = path?.join("/") ?? "";
      else yield { ...entry, path: path === null ? null : below(root, path.join("/")) };
    }
  }

  remove(): Promise<void> {
    return removeRun(this.client, this.owner);
  }
}

/** Removes whatever there is of an attempt. */
export async function removeRun(client: DockerClient, owner: RunOwner): Promise<void> {
  for (const name of [containerName(owner), loaderName(owner)]) await untilGone(() => client.json("DELETE", `/containers/${name}`, { query: { force: "1", v: "1" } }));
  for (const place of PLACES) await untilGone(() => client.json("DELETE", `/volumes/${volumeName(owner, place)}`));
}

/** Engines refuse what somebody else is just removing, and a volume whose container is not quite gone. */
async function untilGone(remove: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await remove();
      return;
    } catch (error) {
      if (error instanceof EngineRefusal && error.status === 404) return;
      if (!(error instanceof EngineRefusal) || attempt === REMOVALS) throw error;
    }
    await sleep(REMOVAL_PAUSE * attempt);
  }
}

function ifRefused(error: unknown): undefined {
  if (!(error instanceof EngineRefusal)) throw error;
}

const partsOf = (name: string): string[] => name.split("/").filter((part) => part !== "" && part !== ".");
const below = (root: string, path: string): string => (root !== "" && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path);
