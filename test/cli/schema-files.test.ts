import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { schemaOf, useFolder } from "./terminal.js";

const folder = useFolder();
const { run, write } = folder;
const CREATE = "schema create-tabular --name T --description d --separator";

describe("schema add-property", () => {
  it("loses nothing when several commands change one file at once", async () => {
    await run(`${CREATE} , shared.json`);
    const names = ["a", "b", "c", "d", "e", "f"];
    const ended = await Promise.all(
      names.map((name, index) =>
        run(
          `schema add-property string --name ${name} --index ${index} --description d shared.json`,
        ),
      ),
    );
    expect(ended.map(({ status }) => status)).toEqual(names.map(() => 0));
    const { properties, required } = JSON.parse(
      await readFile(join(folder.path(), "shared.json"), "utf8"),
    );
    expect(Object.keys(properties).toSorted()).toEqual(names);
    expect(required.toSorted()).toEqual(names);
    expect(existsSync(join(folder.path(), ".shared.json.lock"))).toBe(false);
  });

  it("releases the file after a property that it refuses", async () => {
    await run(`${CREATE} , refused.json`);
    const add = "schema add-property string --name a --description d --index";
    expect((await run(`${add} -1 refused.json`)).status).not.toBe(0);
    expect((await run(`${add} 2:: refused.json`)).status).toBe(1);
    expect((await run(`${add} 0 refused.json`)).status).toBe(0);
  });

  it("names the lock that another command left", async () => {
    await run(`${CREATE} , locked.json`);
    await writeFile(join(folder.path(), ".locked.json.lock"), "");
    const { status, stderr } = await run(
      "schema add-property string --name a --index 0 --description d locked.json",
    );
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^arkgraph: locked\.json: another command is changing it; if none is running, delete \S+\.lock\n$/,
    );
  });
});

describe("the separator of a schema", () => {
  it("is written under the keys of both clients", async () => {
    await run([...CREATE.split(" "), "\\t", "tabs.json"]);
    expect(JSON.parse(await readFile(join(folder.path(), "tabs.json"), "utf8"))).toMatchObject({
      seperator: "\t",
      separator: "\t",
    });
    const { stdout } = await run("schema infer -", "a;b\n1;2\n3;4\n");
    expect(JSON.parse(stdout)).toMatchObject({ seperator: ";", separator: ";" });
  });

  it("is an error of the schema where the two keys differ", async () => {
    const properties = { a: { description: "d", index: 0, type: "string" } };
    await write("differ.json", schemaOf(properties, { seperator: "\t", separator: "," }));
    const { status, stdout } = await run("schema check differ.json");
    expect([status, stdout]).toEqual([
      1,
      'error: its keys seperator ("\\t") and separator (",") differ: the first is used here, ' +
        "the second by other clients; give both the same value\n",
    ]);
    await write("agree.json", schemaOf(properties, { seperator: ",", separator: "," }));
    expect((await run("schema check agree.json")).status).toBe(0);
  });
});

describe.skipIf(!existsSync("/dev/full"))("a full disk behind standard output", () => {
  it.each(["schema list", "schema validate --data d.csv --schema s.json"])(
    "is one line and status 1 for %s",
    async (command) => {
      await write("s.json", schemaOf({ a: { description: "d", index: 0, type: "string" } }));
      await write("d.csv", "x\n");
      const { status, stderr } = spawnSync(
        "sh",
        [
          "-c",
          'exec "$0" "$@" > /dev/full',
          process.execPath,
          join(packageRoot, "bin", "arkgraph.js"),
          ...command.split(" "),
        ],
        { cwd: folder.path(), encoding: "utf8" },
      );
      expect([status, stderr]).toEqual([
        1,
        "arkgraph: standard output cannot be written: no space left on device\n",
      ]);
    },
  );
});
