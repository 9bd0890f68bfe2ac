import { EngineRefusal, type ContainerEngine, type ContainerRun, type EngineImage, type RunOwner, type RunSpec } from "../port.js";
import type { DockerClient } from "./client.js";
import { PLACES, containerName, labelFilter, labelsOf, loaderName, loaderSpec, ownerOf, runSpec, volumeName } from "./container-spec.js";
import { DockerRun, removeRun } from "./run.js";

interface Labelled { Labels?: Record<string, string> | null }

/** Docker, or Podman's service, which answers as Docker does. */
export class DockerEngine implements ContainerEngine {
  /** @param registry names what this registry makes among what others make on the same engine */
  constructor(private readonly client: DockerClient, private readonly registry: string) {}

  async image(reference: string): Promise<EngineImage | undefined> {
    try {
      const { Id, RepoDigests } = await this.client.json<{ Id: string; RepoDigests?: string[] | null }>("GET", `/images/${encodeURIComponent(reference)}/json`);
      return { id: Id, digest: RepoDigests?.[0] ?? null };
    } catch (error) {
      if (error instanceof EngineRefusal && (error.status === 404 || error.status === 400)) return undefined;
      throw error;
    }
  }

  async create(spec: RunSpec): Promise<ContainerRun> {
    const { owner } = spec;
    try {
      for (const place of PLACES) await this.client.json("POST", "/volumes/create", { json: { Name: volumeName(owner, place), Driver: "local", Labels: labelsOf(this.registry, owner) } });
      await this.client.json("POST", "/containers/create", { query: { name: loaderName(owner) }, json: loaderSpec(this.registry, spec) });
      const { Id } = await this.client.json<{ Id: string }>("POST", "/containers/create", { query: { name: containerName(owner) }, json: runSpec(this.registry, spec) });
      const run = new DockerRun(Id, this.client, owner);
      await run.openFolders();
      return run;
    } catch (error) {
      await removeRun(this.client, owner).catch(() => {});
      throw error;
    }
  }

  async owners(): Promise<RunOwner[]> {
    const filters = labelFilter(this.registry);
    const containers = await this.client.json<Labelled[]>("GET", "/containers/json", { query: { all: "1", filters } });
    const { Volumes } = await this.client.json<{ Volumes?: Labelled[] | null }>("GET", "/volumes", { query: { filters } });
    const found = new Map<string, RunOwner>();
    for (const { Labels } of [...containers, ...(Volumes ?? [])]) {
      const owner = ownerOf(Labels);
      if (owner) found.set(containerName(owner), owner);
    }
    return [...found.values()];
  }

  remove(owner: RunOwner): Promise<void> {
    return removeRun(this.client, owner);
  }

  health(): Promise<void> {
    return this.client.ping();
  }
}
