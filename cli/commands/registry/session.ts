import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import {
  fieldsForm,
  isPrivate,
  openRegistry,
  Registry,
  readCredentials,
  resolveServer,
  type ServerOption,
  storeLogin,
  type TokenAnswer,
  writeCredentials,
} from "../../registry.js";
import { Failure, note, visible } from "../../terminal.js";

/** `login`: gets a token and stores it for later commands. @throws Failure */
export async function loginCommand(
  username: string | undefined,
  { server, passwordStdin, web }: ServerOption & { passwordStdin?: true; web?: true },
): Promise<void> {
  const { address } = await resolveServer(server);
  if (web === true) return loginByWeb(address);
  if (!isPrivate(address))
    note(`${address} is not encrypted: others on the network can read the password`);
  if (passwordStdin === true && username === undefined)
    throw new Failure(
      "give the user name as an argument when the password comes from standard input",
    );
  const user = username ?? (await ask(`E-mail address or ARK at ${address}: `));
  const password = passwordStdin === true ? await readLine() : await askSecret("Password: ");
  const answer = await new Registry(address, undefined).json<TokenAnswer>(
    "/token",
    fieldsForm({ grant_type: "password", username: user, password, scope: "offline_access" }),
  );
  await loggedIn(address, answer);
}

interface DeviceLogin {
  device_code: string;
  user_code: string;
  verification_uri_complete: string;
  interval: number;
}

/** The user signs in with a browser, which may be on another machine. @throws Failure */
async function loginByWeb(address: string): Promise<void> {
  const registry = new Registry(address, undefined);
  const begun = await registry.json<DeviceLogin>("/token/device", { method: "POST" });
  note(
    `open ${visible(begun.verification_uri_complete)} in a browser, and compare the code there ` +
      `with ${visible(begun.user_code)}`,
  );
  for (;;) {
    await sleep(begun.interval * 1000);
    const answer = await registry.json<TokenAnswer | { pending: true }>(
      "/token/device/exchange",
      fieldsForm({ device_code: begun.device_code }),
    );
    if (!("pending" in answer)) return loggedIn(address, answer);
  }
}

/** Stores the tokens, and says whose they are. @throws Failure */
async function loggedIn(address: string, answer: TokenAnswer): Promise<void> {
  const { me } = await whoIs(new Registry(address, answer.access_token));
  if (!me) throw new Failure(`${address} rejected the token that it had just issued`);
  const { expires } = await storeLogin(address, answer, { user: me.id, name: me.name });
  process.stdout.write(
    `Logged in to ${address} as ${visible(me.id)} until ${new Date(expires).toISOString()}` +
      `${answer.refresh_token === undefined ? "" : ", and longer while it is used"}\n`,
  );
}

/** The account behind the token of a registry. */
export const whoIs = (
  registry: Registry,
): Promise<{ me: { id: string; name: string | null } | null }> =>
  registry.graphql("{ me { id name } }");

/**
 * `logout`: deletes the stored tokens, and ends the refresh token at the registry. The token itself
 * is in no list from which it could be removed: it ends at its time.
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
  const { refresh } = credentials.servers[address]!;
  if (refresh !== undefined)
    await new Registry(address, undefined)
      .json("/token/revoke", fieldsForm({ refresh_token: refresh }))
      .catch((error: Error) => note(`the refresh token was not ended: ${error.message}`));
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

/** Longest password that is read from a pipe. */
const MAX_PASSWORD_BYTES = 4096;

/** Asks on the terminal. @throws Failure when there is no terminal */
export function ask(question: string): Promise<string> {
  assertTerminal();
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve, reject) => {
    let answered = false;
    lines.on("close", () => !answered && reject(new Failure("nothing was entered")));
    lines.question(question, (answer) => {
      answered = true;
      lines.close();
      resolve(answer.trim());
    });
  });
}

/** The same for secrets: the input is not echoed. */
async function askSecret(question: string): Promise<string> {
  assertTerminal();
  const { stdin, stderr } = process;
  stdin.setRawMode(true).setEncoding("utf8").resume();
  stderr.write(question);
  try {
    return await new Promise<string>((resolve, reject) => {
      let text = "";
      stdin.on("data", (keys: string) => {
        for (const key of keys) {
          if (key === "\r" || key === "\n") return resolve(text);
          if (key === "\u0003") return reject(new Failure("nothing was entered"));
          if (key === "\u0004" && text === "") return reject(new Failure("nothing was entered"));
          if (key === "\u007f" || key === "\b") text = [...text].slice(0, -1).join("");
          else if (key === "\u0015") text = "";
          else if (key >= " ") text += key;
        }
      });
      stdin.on("end", () => reject(new Failure("nothing was entered")));
    });
  } finally {
    stdin.removeAllListeners("data").removeAllListeners("end").setRawMode(false).pause();
    stderr.write("\n");
  }
}

function assertTerminal(): void {
  if (!process.stdin.isTTY)
    throw new Failure(
      "there is no terminal for a prompt: give the user name, and the password with " +
        "--password-stdin",
    );
}

/** The first line of standard input. */
async function readLine(): Promise<string> {
  let text = "";
  for await (const part of process.stdin.setEncoding("utf8")) {
    text += String(part);
    if (text.length > MAX_PASSWORD_BYTES || text.includes("\n")) break;
  }
  const [line = ""] = text.split(/\r?\n/, 1);
  if (line === "") throw new Failure("standard input holds no password");
  return line;
}
