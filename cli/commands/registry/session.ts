import { Failure } from "../../failure.js";
import { ask, askSecret, readLine } from "../../prompt.js";
import { readCredentials, writeCredentials } from "../../registry/credentials.js";
import {
  isPrivate,
  openRegistry,
  Registry,
  resolveServer,
  type ServerOption,
} from "../../registry/registry.js";
import { visible } from "../../render/table.js";
import { note } from "../../render/terminal-progress.js";

/** `login`: gets a token and stores it for later commands. @throws Failure */
export async function loginCommand(
  username: string | undefined,
  { server, passwordStdin }: ServerOption & { passwordStdin?: true },
): Promise<void> {
  const { address } = await resolveServer(server);
  if (!isPrivate(address))
    note(`${address} is not encrypted: others on the network can read the password`);
  if (passwordStdin === true && username === undefined)
    throw new Failure(
      "give the user name as an argument when the password comes from standard input",
    );
  const user = username ?? (await ask(`E-mail address or ARK at ${address}: `));
  const password = passwordStdin === true ? await readLine() : await askSecret("Password: ");
  const answer = await new Registry(address, undefined).json<{
    access_token: string;
    expires_in: number;
  }>("/token", {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ grant_type: "password", username: user, password }).toString(),
  });
  const { me } = await whoIs(new Registry(address, answer.access_token));
  if (!me) throw new Failure(`${address} rejected the token that it had just issued`);
  const expires = Date.now() + answer.expires_in * 1000;
  const credentials = await readCredentials();
  await writeCredentials({
    ...credentials,
    current: address,
    servers: {
      ...credentials.servers,
      [address]: { token: answer.access_token, user: me.id, name: me.name, expires },
    },
  });
  process.stdout.write(
    `Logged in to ${address} as ${visible(me.id)} until ${new Date(expires).toISOString()}\n`,
  );
}

/** The account behind the token of a registry. */
export const whoIs = (
  registry: Registry,
): Promise<{ me: { id: string; name: string | null } | null }> =>
  registry.graphql("{ me { id name } }");

/**
 * `logout`: deletes the stored token. The registry has no list of tokens from which it could be
 * removed.
 */
export async function logoutCommand({ server }: ServerOption): Promise<void> {
  const { address } = await resolveServer(server);
  const credentials = await readCredentials();
  if (!Object.hasOwn(credentials.servers, address))
    return void process.stdout.write(`Not logged in to ${address}\n`);
  const servers = Object.fromEntries(
    Object.entries(credentials.servers).filter(([known]) => known !== address),
  );
  await writeCredentials({ ...credentials, servers });
  process.stdout.write(`Logged out of ${address}\n`);
}

/** `whoami`: the account that commands act as. @throws Failure */
export async function whoamiCommand(options: ServerOption): Promise<void> {
  const registry = await openRegistry(options, { token: true });
  const { me } = await whoIs(registry);
  if (!me) throw new Failure(`${registry.address} rejected the token: run arkgraph login`);
  process.stdout.write(
    visible(`${me.id}${me.name === null ? "" : ` ${me.name}`} at ${registry.address}`) + "\n",
  );
}
