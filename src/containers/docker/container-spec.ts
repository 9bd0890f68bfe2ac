import type { InputPlace, RunOwner, RunSpec } from "../port.js";

/** Folders of a run; each is a volume of its own. */
export const PLACES = ["inputs", "software", "outputs"] as const;
type Place = InputPlace | "outputs";

const LABEL = "org.arkgraph";
/** Longer than any use of the group; the kernel counts processes by user, over all containers. */
const PROCESSES_OF_USER = 16_384;

/** Names of what an attempt makes: nothing but the attempt is needed to find it again. */
export const containerName = ({ submission, attempt }: RunOwner): string => `arkgraph-${submission}-${attempt}`;
/** Of the container that never runs: archives are put into it, whose volumes are the run's. */
export const loaderName = (owner: RunOwner): string => `${containerName(owner)}-loader`;
export const volumeName = (owner: RunOwner, place: Place): string => `${containerName(owner)}-${place}`;

export const labelsOf = (registry: string, { submission, attempt }: RunOwner): Record<string, string> =>
  ({ [`${LABEL}.registry`]: registry, [`${LABEL}.submission`]: submission, [`${LABEL}.attempt`]: String(attempt) });

/** What a list is asked with, to name only what this registry made. */
export const labelFilter = (registry: string): string => JSON.stringify({ label: [`${LABEL}.registry=${registry}`] });

/** `undefined` for labels that this registry did not write. */
export function ownerOf(labels: Readonly<Record<string, string>> | null | undefined): RunOwner | undefined {
  const submission = labels?.[`${LABEL}.submission`];
  const attempt = Number(labels?.[`${LABEL}.attempt`]);
  return submission === undefined || !/^[0-9a-f-]{36}$/.test(submission) || !Number.isSafeInteger(attempt) ? undefined : { submission, attempt };
}

const mounts = (owner: RunOwner, readOnly: boolean) => PLACES.map((place) => ({
  Type: "volume", Source: volumeName(owner, place), Target: `/${place}`, ReadOnly: readOnly && place !== "outputs",
  // What an image has at that place is no input and no result.
  VolumeOptions: { NoCopy: true },
}));

const bound = (name: string, value: number) => ({ Name: name, Soft: value, Hard: value });
const ulimits = (limits: RunSpec["limits"]) => [bound("nofile", limits.openFiles), bound("nproc", PROCESSES_OF_USER), bound("fsize", limits.fileSize), bound("core", 0)];

/** The container that never runs: its program is nowhere. */
export const loaderSpec = (registry: string, { owner, image, user, limits }: RunSpec): object => ({
  Image: image, Entrypoint: ["/.arkgraph-runs-nothing"], Cmd: [], Labels: labelsOf(registry, owner), User: user, NetworkDisabled: true, Healthcheck: { Test: ["NONE"] },
  HostConfig: { NetworkMode: "none", CapDrop: ["ALL"], SecurityOpt: ["no-new-privileges"], Ulimits: ulimits(limits), Mounts: mounts(owner, false) },
});

/** The container of a run: no network, nothing of the image can be written, no rights, and a bound on all that it uses. */
export function runSpec(registry: string, { owner, image, entrypoint, command, user, limits }: RunSpec): object {
  return {
    Image: image, ...(entrypoint ? { Entrypoint: entrypoint } : {}), ...(command ? { Cmd: command } : {}),
    User: user, WorkingDir: "/outputs", Env: ["HOME=/tmp", "TMPDIR=/tmp"], Labels: labelsOf(registry, owner),
    NetworkDisabled: true, Tty: false, OpenStdin: false, Healthcheck: { Test: ["NONE"] }, StopSignal: "SIGKILL",
    HostConfig: {
      NetworkMode: "none", IpcMode: "private", ReadonlyRootfs: true, Privileged: false, CapDrop: ["ALL"], SecurityOpt: ["no-new-privileges"],
      // Without swap: a run that needs more is ended, and does not make the host slow instead.
      Memory: limits.memory, MemorySwap: limits.memory, NanoCpus: limits.cpus * 1e9, PidsLimit: limits.pids,
      Ulimits: ulimits(limits),
      LogConfig: { Type: "json-file", Config: { "max-size": String(limits.log) } },
      RestartPolicy: { Name: "no" }, AutoRemove: false,
      Mounts: [...mounts(owner, true), { Type: "tmpfs", Target: "/tmp", TmpfsOptions: { SizeBytes: limits.temporary, Mode: 0o1777 } }],
    },
  };
}
