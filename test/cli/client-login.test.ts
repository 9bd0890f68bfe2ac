import { chmod, readFile, readdir, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failure, useRegistry } from "../support/client-rig.js";
import { PASSWORD } from "../support/server.js";
import { hasTerminals, inTerminal } from "./terminal.js";

const rig = useRegistry();
const { tool, login, folder } = rig;
const credentials = () => join(folder.path(), "config", "arkgraph", "credentials.json");

describe("arkgraph login", () => {
  it("stores the token where only its owner can read it, and never prints it", async () => {
    const { status, stdout, stderr } = await login();
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(
      new RegExp(`^Logged in to ${rig.server().url} as ark:99999/user-ada until \\d{4}-`),
    );
    expect((await stat(credentials())).mode & 0o777).toBe(0o600);
    expect((await stat(join(credentials(), ".."))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(credentials(), ".."))).toEqual(["credentials.json"]);
    const { servers } = JSON.parse(await readFile(credentials(), "utf8")) as {
      servers: Record<string, { token: string }>;
    };
    const { token } = servers[rig.server().url]!;
    expect(token.length).toBeGreaterThan(50);
    expect(stdout).not.toContain(token);
    expect(await tool("whoami")).toEqual({
      status: 0,
      stdout: `ark:99999/user-ada ada at ${rig.server().url}\n`,
      stderr: "",
    });
    // The last login says which registry is meant.
    expect((await tool("whoami", undefined, { ARKGRAPH_SERVER: "" })).status).toBe(0);
  });

  it("refuses a wrong password in one line, and stores nothing", async () => {
    const before = await readFile(credentials(), "utf8");
    const ended = await tool("login ada@example.org --password-stdin", "wrong horse\n");
    expect(ended).toEqual(failure("The user name or the password is wrong: check both."));
    expect(await readFile(credentials(), "utf8")).toBe(before);
    expect(await tool("login ada@example.org", "x\n")).toEqual(
      failure(
        "there is no terminal for a prompt: give the user name, and the password with " +
          "--password-stdin",
      ),
    );
    expect(await tool("login ada@example.org --password-stdin", "")).toEqual(
      failure("standard input holds no password"),
    );
  });

  it("refuses a file of tokens that others can read, or that is damaged", async () => {
    const text = await readFile(credentials(), "utf8");
    await chmod(credentials(), 0o644);
    expect(await tool("whoami")).toEqual(
      failure(/.*credentials\.json contains tokens and others can read it: run chmod 600 on it/),
    );
    await chmod(credentials(), 0o600);
    await writeFile(credentials(), "{");
    expect(await tool("whoami")).toEqual(
      failure(/.*credentials\.json is damaged: remove it, and run arkgraph login again/),
    );
    await writeFile(credentials(), text);
  });

  it("says what to do with a token that has expired or is refused", async () => {
    const text = await readFile(credentials(), "utf8");
    const expired = text.replace(/"expires": \d+/, '"expires": 1000');
    await writeFile(credentials(), expired.replace(/"refresh": "[^"]*"/, '"refresh": "none"'));
    expect(await tool("whoami")).toEqual(
      failure(/the login to http.* has expired: run arkgraph login again/),
    );
    // A refresh token renews the login, once.
    await writeFile(credentials(), expired);
    expect((await tool("whoami")).status).toBe(0);
    const renewed = await readFile(credentials(), "utf8");
    expect(renewed).not.toBe(expired);
    await writeFile(credentials(), expired);
    expect((await tool("whoami")).status).toBe(1);
    await writeFile(credentials(), renewed);
    const { stderr, status } = await tool("whoami", undefined, {
      ARKGRAPH_TOKEN: "secret-token-that-is-none",
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^arkgraph: [^\n]+ \(run arkgraph login\)\n$/);
    expect(stderr).not.toContain("secret-token");
  });

  it.skipIf(!hasTerminals)("prompts on a terminal, and does not echo the password", async () => {
    const { status, shown } = await inTerminal(["login"], {
      cwd: folder.path(),
      env: rig.env(),
      steps: [
        [": ", "ada@example.org\r"],
        ["Password: ", `xx\u007f\u007f${PASSWORD}\r`],
      ],
    });
    expect(shown).toContain("Logged in to");
    expect(status).toBe(0);
    expect(shown).not.toContain(PASSWORD);
    expect(shown).not.toContain("correct");
    const left = await inTerminal(["login", "ada@example.org"], {
      cwd: folder.path(),
      env: rig.env(),
      steps: [["Password: ", "\u0003"]],
    });
    expect(left.status).toBe(1);
    expect(left.shown).toContain("arkgraph: nothing was entered\n");
  });

  it("removes the token at logout", async () => {
    expect(await tool("logout")).toEqual({
      status: 0,
      stdout: `Logged out of ${rig.server().url}\n`,
      stderr: "",
    });
    expect(await tool("whoami")).toEqual(
      failure(/you are not logged in to http.*: run arkgraph login/),
    );
    expect((await tool("logout")).stdout).toBe(`Not logged in to ${rig.server().url}\n`);
    await login();
  });
});

describe("a registry that cannot be reached", () => {
  let odd: Server;
  let port: number;
  beforeAll(async () => {
    // Says something that is no HTTP, or nothing, and hangs up.
    odd = createServer((socket) =>
      socket
        .on("error", () => undefined)
        .once("data", (data) => socket.end(data.includes("hangs-up") ? "" : "SSH-2.0-nothing\r\n")),
    );
    port = await new Promise<number>((resolve) =>
      odd.listen(0, "127.0.0.1", () => resolve((odd.address() as { port: number }).port)),
    );
  });
  afterAll(() => new Promise((resolve) => odd.close(resolve)));

  const ask = (server: string, ark = "ark:99999/x") => tool(["get", ark, "--server", server]);
  it("is reported in one line, whatever answers in its place", async () => {
    expect(await ask("http://127.0.0.1:1")).toEqual(
      failure("http://127.0.0.1:1 refuses the connection: is the registry running there?"),
    );
    expect(await ask(rig.server().url.replace("http:", "https:"))).toEqual(
      failure(
        /https:\/\/127\.0\.0\.1:\d+ does not speak TLS: is it http:\/\/ in place of https:\/\/\?/,
      ),
    );
    expect(await ask(`http://127.0.0.1:${port}`)).toEqual(
      failure(/http:\/\/127\.0\.0\.1:\d+ does not speak HTTP: .*/),
    );
    expect(await ask(`http://127.0.0.1:${port}`, "ark:99999/hangs-up")).toEqual(
      failure(/http:\/\/127\.0\.0\.1:\d+ closed the connection before it answered \(ECONNRESET\)/),
    );
  });

  it("must have a valid address", async () => {
    for (const server of ["localhost:8080", "ftp://example.org", "nothing"])
      expect(await ask(server)).toEqual(
        failure(`${server} is not the address of a registry: write http://… or https://…`),
      );
    expect(await ask("http://ada:secret@127.0.0.1:1")).toEqual(
      failure(
        "the address of a registry holds no user name or password: leave them out, and run " +
          "arkgraph login",
      ),
    );
  });
});
