import { Failure } from "../../failure.js";
import { openRegistry, type ServerOption } from "../../registry/registry.js";
import { visible } from "../../render/visible.js";
import { whoIs } from "./login.js";

/** `whoami`: the account that commands act as. @throws Failure */
export async function whoamiCommand(options: ServerOption): Promise<void> {
  const registry = await openRegistry(options, { token: true });
  const { me } = await whoIs(registry);
  if (!me) throw new Failure(`${registry.address} does not take the token: run arkgraph login`);
  process.stdout.write(visible(`${me.id}${me.name === null ? "" : ` ${me.name}`} at ${registry.address}`) + "\n");
}
