import { setTimeout as sleep } from "node:timers/promises";
import { type DockerClient, piecesOf } from "./docker-client.js";
import {
  type ContainerEngine,
  type ContainerRun,
  type EngineImage,
  EngineRefusal,
  type InputPlace,
  type OutputEntry,
  type RunOwner,
  type RunSpec,
  type RunState,
  type TarFile,
} from "./port.js";
import { folders, readTar, writeTar } from "./tar.js";

/** Folders of a run; each is a volume of its own. */
const PLACES = ["inputs", "software", "outputs"] as const;
type Place = InputPlace | "outputs";

const LABEL = "org.arkgraph";
/** Longer than any use of the group; the kernel counts processes by user, over all containers. */
const PROCESSES_OF_USER = 16_384;

/** Names of an attempt's container and volumes: the attempt alone is enough to find them again. */
const containerName = ({ submission, attempt }: RunOwner): string =>
  `arkgraph-${submission}-${attempt}`;
/** Name of the container that never runs: archives are put into it, whose volumes are the run's. */
const loaderName = (owner: RunOwner): string => `${containerName(owner)}-loader`;
const volumeName = (owner: RunOwner, place: Place): string => `${containerName(owner)}-${place}`;

const labelsOf = (registry: string, { submission, attempt }: RunOwner): Record<string, string> => ({
  [`${LABEL}.registry`]: registry,
  [`${LABEL}.submission`]: submission,
  [`${LABEL}.attempt`]: String(attempt),
});

/** Filters of a list: they select only the objects that this registry made. */
const labelFilter = (registry: string): string =>
  JSON.stringify({ label: [`${LABEL}.registry=${registry}`] });

/** `undefined` for labels that this registry did not write. */
function ownerOf(
  labels: Readonly<Record<string, string>> | null | undefined,
): RunOwner | undefined {
  const submission = labels?.[`${LABEL}.submission`];
  const attempt = Number(labels?.[`${LABEL}.attempt`]);
  return submission === undefined ||
    !/^[0-9a-f-]{36}$/.test(submission) ||
    !Number.isSafeInteger(attempt)
    ? undefined
    : { submission, attempt };
}

const mounts = (owner: RunOwner, readOnly: boolean) =>
  PLACES.map((place) => ({
    Type: "volume",
    Source: volumeName(owner, place),
    Target: `/${place}`,
    ReadOnly: readOnly && place !== "outputs",
    // The image's own files at that place are neither an input nor a result.
    VolumeOptions: { NoCopy: true },
  }));

const bound = (name: string, value: number) => ({ Name: name, Soft: value, Hard: value });
const ulimits = (limits: RunSpec["limits"]) => [
  bound("nofile", limits.openFiles),
  bound("nproc", PROCESSES_OF_USER),
  bound("fsize", limits.fileSize),
  bound("core", 0),
];

/** The container that never runs: its program is nowhere. */
const loaderSpec = (registry: string, { owner, image, user, limits }: RunSpec): object => ({
  Image: image,
  Entrypoint: ["/.arkgraph-runs-nothing"],
  Cmd: [],
  Labels: labelsOf(registry, owner),
  User: user,
  NetworkDisabled: true,
  Healthcheck: { Test: ["NONE"] },
  HostConfig: {
    NetworkMode: "none",
    CapDrop: ["ALL"],
    SecurityOpt: ["no-new-privileges"],
    Ulimits: ulimits(limits),
    Mounts: mounts(owner, false),
  },
});

/**
 * The container of a run: no network, a read-only image, no privileges, and a bound on every
 * resource that it uses.
 */
function runSpec(
  registry: string,
  { owner, image, entrypoint, command, user, limits }: RunSpec,
): object {
  return {
    Image: image,
    ...(entrypoint ? { Entrypoint: entrypoint } : {}),
    ...(command ? { Cmd: command } : {}),
    User: user,
    WorkingDir: "/outputs",
    Env: ["HOME=/tmp", "TMPDIR=/tmp"],
    Labels: labelsOf(registry, owner),
    NetworkDisabled: true,
    Tty: false,
    OpenStdin: false,
    Healthcheck: { Test: ["NONE"] },
    StopSignal: "SIGKILL",
    HostConfig: {
      NetworkMode: "none",
      IpcMode: "private",
      ReadonlyRootfs: true,
      Privileged: false,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      // Without swap: a run that needs more is ended, and does not make the host slow instead.
      Memory: limits.memory,
      MemorySwap: limits.memory,
      NanoCpus: limits.cpus * 1e9,
      PidsLimit: limits.pids,
      Ulimits: ulimits(limits),
      LogConfig: { Type: "json-file", Config: { "max-size": String(limits.log) } },
      RestartPolicy: { Name: "no" },
      AutoRemove: false,
      Mounts: [
        ...mounts(owner, true),
        {
          Type: "tmpfs",
          Target: "/tmp",
          TmpfsOptions: { SizeBytes: limits.temporary, Mode: 0o1777 },
        },
      ],
    },
  };
}

/**
 * Header of a frame: the stream's number, three zeros, the length (Docker Engine API, "Stream
 * format").
 */
const HEADER = 8;

/**
 * The last `most` bytes of a container's output, both streams as they came.
 * @param pieces frames, cut anywhere
 */
async function logText(pieces: AsyncIterable<Uint8Array>, most: number): Promise<string> {
  let head = Buffer.alloc(0);
  let left = 0;
  let tail = Buffer.alloc(0);
  for await (const piece of pieces) {
    let bytes = Buffer.from(piece);
    while (bytes.byteLength > 0) {
      if (left === 0) {
        const wanted = HEADER - head.byteLength;
        head = Buffer.concat([head, bytes.subarray(0, wanted)]);
        bytes = bytes.subarray(wanted);
        if (head.byteLength < HEADER) break;
        left = head.readUInt32BE(4);
        head = Buffer.alloc(0);
        continue;
      }
      const part = bytes.subarray(0, left);
      left -= part.byteLength;
      bytes = bytes.subarray(part.byteLength);
      tail = Buffer.concat([tail, part]).subarray(-most);
    }
  }
  // Terminal control characters, and characters that no store accepts, do not count as text.
  return tail
    .toString("utf8")
    .replace(/^\uFFFD+/, "")
    .replace(/\r\n/g, "\n")
    .replace(/[\p{Cc}\p{Cs}]/gu, (character) =>
      character === "\n" || character === "\t" ? character : "\uFFFD",
    )
    .trim();
}

/** How often a removal is tried, and the first pause between two, ms. */
const REMOVALS = 6;
const REMOVAL_PAUSE = 50;
/** An empty folder in each volume. */
const MARK = ".arkgraph/";

interface Inspected {
  State: {
    Running: boolean;
    Restarting?: boolean;
    Status?: string;
    ExitCode: number;
    OOMKilled: boolean;
    StartedAt: string;
    FinishedAt: string;
  };
}
interface Usage {
  Volumes?: { Name: string; UsageData?: { Size?: number } | null }[] | null;
}

/**
 * One run on a Docker-compatible engine. Bytes go in and out as archives, so that the engine may be
 * on another host.
 */
class DockerRun implements ContainerRun {
  readonly #client: DockerClient;
  readonly #owner: RunOwner;

  constructor(
    readonly id: string,
    client: DockerClient,
    owner: RunOwner,
  ) {
    this.#client = client;
    this.#owner = owner;
  }

  async put(place: InputPlace, files: AsyncIterable<TarFile>): Promise<void> {
    await this.#client.json("PUT", `/containers/${loaderName(this.#owner)}/archive`, {
      query: { path: `/${place}` },
      body: writeTar(files),
    });
  }

  /**
   * Makes `/outputs` writable for the run's user: Docker takes the mode from the folder's entry in
   * what lies above, Podman from `./`. Podman would also give a volume what the image has at its
   * place: the content to one that is empty, owner and mode of the folder at the first start with
   * it. So none stays empty, and the first start is over before.
   */
  async openFolders(): Promise<void> {
    const loader = `/containers/${loaderName(this.#owner)}`;
    const path = `${loader}/archive`;
    const put = (place: string, modes: Readonly<Record<string, number>>) =>
      this.#client.json("PUT", path, { query: { path: place }, body: folders(modes) });
    for (const place of PLACES) await put(`/${place}`, { [MARK]: 0o555 });
    // Its program is nowhere: it is mounted, and does not run.
    if ((await this.#client.server()).podman)
      await this.#client.json("POST", `${loader}/start`).catch(ifRefused);
    await put("/", { "outputs/": 0o777 });
    await put("/outputs", { "./": 0o777 });
    const answer = await this.#client.open("HEAD", path, { query: { path: "/outputs" } });
    answer.resume();
    const { mode } = JSON.parse(
      Buffer.from(String(answer.headers["x-docker-container-path-stat"] ?? ""), "base64").toString(
        "utf8",
      ) || "{}",
    ) as { mode?: number };
    if (((mode ?? 0) & 0o007) !== 0o007)
      throw new EngineRefusal(
        500,
        "the container engine did not make /outputs writable for the run's user",
      );
  }

  async start(): Promise<void> {
    await this.#client.json("POST", `/containers/${this.id}/start`);
  }

  async state(): Promise<RunState> {
    const {
      State: { Running, Restarting, Status, ExitCode, OOMKilled, StartedAt, FinishedAt },
    } = await this.#client.json<Inspected>("GET", `/containers/${this.id}/json`);
    // Podman reports `stopping` for a short time between the end of the process and its exit code.
    if (Running || Restarting === true || Status === "stopping" || Status === "created")
      return { running: true };
    return {
      running: false,
      exitCode: ExitCode,
      outOfMemory: OOMKilled,
      startedAt: StartedAt,
      finishedAt: FinishedAt,
    };
  }

  async outputSize(): Promise<number | undefined> {
    // Docker refuses while it counts for another caller: then the next poll returns the size.
    const usage = await this.#client
      .json<Usage>("GET", "/system/df", { query: { type: "volume" } })
      .catch(ifRefused);
    const size = usage?.Volumes?.find(({ Name }) => Name === volumeName(this.#owner, "outputs"))
      ?.UsageData?.Size;
    return size === undefined || size < 0 ? undefined : size;
  }

  async log(bytes: number): Promise<string> {
    const answer = await this.#client.open("GET", `/containers/${this.id}/logs`, {
      query: { stdout: "1", stderr: "1" },
    });
    return logText(piecesOf(answer), bytes);
  }

  async *outputs(): AsyncGenerator<OutputEntry> {
    const answer = await this.#client.open("GET", `/containers/${this.id}/archive`, {
      query: { path: "/outputs" },
    });
    let root: string | undefined;
    for await (const { name, ...entry } of readTar(piecesOf(answer))) {
      const path = name === null ? null : partsOf(name);
      // The folder itself comes first; engines differ in its name.
      if (root === undefined) root = path?.join("/") ?? "";
      else yield { ...entry, path: path === null ? null : below(root, path.join("/")) };
    }
  }

  remove(): Promise<void> {
    return removeRun(this.#client, this.#owner);
  }
}

/** Removes everything that exists of an attempt. */
async function removeRun(client: DockerClient, owner: RunOwner): Promise<void> {
  for (const name of [containerName(owner), loaderName(owner)])
    await untilGone(() =>
      client.json("DELETE", `/containers/${name}`, { query: { force: "1", v: "1" } }),
    );
  for (const place of PLACES)
    await untilGone(() => client.json("DELETE", `/volumes/${volumeName(owner, place)}`));
}

/**
 * Engines refuse to remove a container that another caller is just removing, and a volume whose
 * container is not quite gone.
 */
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

const partsOf = (name: string): string[] =>
  name.split("/").filter((part) => part !== "" && part !== ".");
const below = (root: string, path: string): string =>
  root !== "" && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;

interface Labelled {
  Labels?: Record<string, string> | null;
}

/** Docker, or Podman's service, which answers as Docker does. */
export class DockerEngine implements ContainerEngine {
  readonly #client: DockerClient;
  readonly #registry: string;

  /**
   * @param registry distinguishes this registry's objects from those of others on the same engine
   */
  constructor(client: DockerClient, registry: string) {
    this.#client = client;
    this.#registry = registry;
  }

  async image(reference: string): Promise<EngineImage | undefined> {
    try {
      const { Id, RepoDigests } = await this.#client.json<{
        Id: string;
        RepoDigests?: string[] | null;
      }>("GET", `/images/${encodeURIComponent(reference)}/json`);
      return { id: Id, digest: RepoDigests?.[0] ?? null };
    } catch (error) {
      if (error instanceof EngineRefusal && (error.status === 404 || error.status === 400))
        return undefined;
      throw error;
    }
  }

  async create(spec: RunSpec): Promise<ContainerRun> {
    const { owner } = spec;
    try {
      for (const place of PLACES)
        await this.#client.json("POST", "/volumes/create", {
          json: {
            Name: volumeName(owner, place),
            Driver: "local",
            Labels: labelsOf(this.#registry, owner),
          },
        });
      await this.#client.json("POST", "/containers/create", {
        query: { name: loaderName(owner) },
        json: loaderSpec(this.#registry, spec),
      });
      const { Id } = await this.#client.json<{ Id: string }>("POST", "/containers/create", {
        query: { name: containerName(owner) },
        json: runSpec(this.#registry, spec),
      });
      const run = new DockerRun(Id, this.#client, owner);
      await run.openFolders();
      return run;
    } catch (error) {
      await removeRun(this.#client, owner).catch(() => {});
      throw error;
    }
  }

  async owners(): Promise<RunOwner[]> {
    const filters = labelFilter(this.#registry);
    const containers = await this.#client.json<Labelled[]>("GET", "/containers/json", {
      query: { all: "1", filters },
    });
    const { Volumes } = await this.#client.json<{ Volumes?: Labelled[] | null }>(
      "GET",
      "/volumes",
      {
        query: { filters },
      },
    );
    const found = new Map<string, RunOwner>();
    for (const { Labels } of [...containers, ...(Volumes ?? [])]) {
      const owner = ownerOf(Labels);
      if (owner) found.set(containerName(owner), owner);
    }
    return [...found.values()];
  }

  remove(owner: RunOwner): Promise<void> {
    return removeRun(this.#client, owner);
  }

  health(): Promise<void> {
    return this.#client.ping();
  }
}
