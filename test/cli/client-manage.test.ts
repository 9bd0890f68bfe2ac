import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { failure, useRegistry } from "../support/client-rig.js";
import type { Person } from "../support/server.js";
import { hasTerminals, inTerminal } from "./terminal.js";

const rig = useRegistry();
const { tool, folder } = rig;
const RAW = "ark:99999/raw";
const COUNTS = "ark:99999/counts";
let bob: Person;
let group: string;

beforeAll(async () => {
  const server = rig.server();
  const { token, id: owner } = rig.ada();
  bob = await server.person("bob");
  await rig.login();
  const create = (kind: string, type: string, id: string, name: string, more: object = {}) =>
    server.request("POST", `/${kind}`, {
      token,
      json: { "@id": id, "@type": type, name, description: "Of a test.", owner, ...more },
    });
  await create("dataset", "evi:Dataset", RAW, "Raw images");
  await create("dataset", "evi:Dataset", COUNTS, "Cell counts");
  await create("software", "evi:Software", "ark:99999/tool", "Counting \u001b[31mtool");
  const made = await server.request<{ "@id": string }>("POST", "/group", {
    token,
    json: bodyOf("group", owner),
  });
  group = made.body["@id"];
  await tool(`publish ${COUNTS}`);
});

describe("arkgraph list", () => {
  it("shows the name, kind, status and address of the caller's records", async () => {
    const { status, stdout } = await tool("list");
    expect(status).toBe(0);
    const today = expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string;
    const shown = /^Cell counts \(dataset, PUBLISHED, (.*)\)\n {2}(.*)\n/.exec(stdout);
    expect(shown?.slice(1)).toEqual([today, `${rig.server().url}/${COUNTS}`]);
    expect(stdout).toContain("Counting [31mtool (software, DRAFT, ");
    expect(stdout).toMatch(/\n\d+ records\n$/);
    // What it prints is an identifier for the other commands.
    expect(JSON.parse((await tool(`get ${shown![2]}`)).stdout)).toMatchObject({ "@id": COUNTS });
  });

  it("filters by kind, status and name, and says when there are more", async () => {
    expect((await tool("list --kind software dataset --status DRAFT")).stdout).toMatch(
      /Counting[^]*Raw images[^]*\n2 records\n$/,
    );
    expect((await tool("list --name counts")).stdout).toMatch(/^Cell counts [^]*\n1 record\n$/);
    expect((await tool("list --kind dataset --limit 1")).stdout).toMatch(
      /\n2 records, 1 shown: more with --limit\n$/,
    );
    expect((await tool("list --kind plate")).status).toBe(2);
    const json = await tool("list --kind software --json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      totalCount: 1,
      nodes: [{ id: "ark:99999/tool", kind: "SOFTWARE" }],
    });
  });

  it("shows the records of another owner without a login", async () => {
    const other = { XDG_CONFIG_HOME: "/nowhere" };
    const owned = await tool(`list --owner ${rig.ada().id} --kind dataset`, undefined, other);
    expect(owned.stdout).toMatch(/\n2 records\n$/);
    expect(await tool("list", undefined, other)).toEqual(
      failure(/you are not logged in to http.*: run arkgraph login/),
    );
  });
});

describe("arkgraph history", () => {
  it("shows who changed what, by name, newest first", async () => {
    const { status, stdout } = await tool(`history ${COUNTS}`);
    expect(status).toBe(0);
    const [, newest, oldest] =
      /^(\d+ {2}\S+Z {2}publish by \S.*)\n(1 {2}\S+Z {2}create by \S.*)\n$/.exec(stdout) ?? [];
    expect([newest, oldest]).not.toContain(undefined);
    expect(stdout).not.toContain(rig.ada().id);
    expect((await tool(`history ${COUNTS} --limit 1`)).stdout).toContain("more with --limit");
    expect(JSON.parse((await tool(`history ${COUNTS} --json`)).stdout)).toHaveLength(2);
    expect(await tool("history ark:99999/none")).toEqual(
      failure(/Nothing is stored under ark:99999\/none.*/),
    );
  });
});

describe("arkgraph transfer", () => {
  it("hands records over, and names those that were refused", async () => {
    const ended = await tool(`transfer ${RAW} ark:99999/none --to ${group}`);
    expect([ended.status, ended.stdout]).toEqual([1, `${RAW} belongs to ${group}\n`]);
    expect(ended.stderr).toMatch(/^arkgraph: ark:99999\/none: [^\n]+\n$/);
    const list = await tool(`list --owner ${group} --kind dataset`);
    expect(list.stdout).toMatch(/^Raw images /);
    expect(await tool(`transfer ${RAW} --to ${bob.id}`)).toMatchObject({ status: 1, stdout: "" });
    expect((await tool(`transfer ${RAW}`)).status).toBe(2);
  });
});

describe("arkgraph open", () => {
  const address = () => `${rig.server().url}/${COUNTS}`;

  it("prints the address, and opens nothing where there is no desktop", async () => {
    expect(await tool(`open ${address()}`)).toEqual({
      status: 0,
      stdout: `${address()}\n`,
      stderr: "",
    });
    expect(await tool("open none")).toEqual(failure(/none is not an ARK.*/));
  });

  it.skipIf(!hasTerminals)("opens it in the browser of a desktop", async () => {
    const bin = join(folder.path(), "bin");
    const opened = join(folder.path(), "opened");
    await mkdir(bin);
    await writeFile(join(bin, "xdg-open"), `#!/bin/sh\necho "$1" > ${opened}\n`);
    await chmod(join(bin, "xdg-open"), 0o755);
    const env = { ...rig.env(), DISPLAY: ":9", PATH: `${bin}${delimiter}${process.env["PATH"]}` };
    const options = { cwd: folder.path(), env };
    await inTerminal(["open", COUNTS, "--no-browser"], options);
    expect((await inTerminal(["open", COUNTS], options)).shown).toBe(`${address()}\n`);
    await expect
      .poll(() => readFile(opened, "utf8").catch(() => ""), { timeout: 10_000 })
      .toBe(`${address()}\n`);
  });
});
