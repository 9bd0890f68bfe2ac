import { mkdir, symlink } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failure } from "../support/client-rig.js";
import { crate, metadata } from "../support/crates.js";
import { largeCrate } from "../support/large-crate.js";
import type { User } from "../support/registry-client.js";
import { RegistryProcess } from "../support/registry-process.js";
import { hasTerminals, inTerminal, useFolder } from "./terminal.js";

/** Takes a few seconds to take in. */
const ENTITIES = 1500;
const UUID = /[0-9a-f]{8}-[0-9a-f-]{27}/;

const folder = useFolder();
let registry: RegistryProcess;
let ada: User;
beforeAll(async () => {
  registry = await RegistryProcess.start({ env: { MAX_ATTEMPTS: "20", MAX_UPLOAD_BYTES: "20M" } });
  ada = await registry.user("Ada");
});
afterAll(() => registry.stop());
const env = (): Record<string, string> => ({
  ARKGRAPH_SERVER: registry.url,
  ARKGRAPH_TOKEN: ada.token,
  HOME: folder.path(),
});
const tool = (command: string, more: Record<string, string> = {}) =>
  folder.run(command, undefined, { ...env(), ...more });
const terminal = (
  command: string,
  steps: [string, string][] = [],
  more: Record<string, string> = {},
) => inTerminal(command.split(" "), { cwd: folder.path(), env: { ...env(), ...more }, steps });

describe("arkgraph upload", () => {
  it(
    "sends an archive or a folder and prints the crate's identifier; repeating it " +
      "changes nothing",
    async () => {
      await folder.write(
        "crate.zip",
        await crate([{ "@id": "a.txt", "@type": "File", name: "A", description: "A file" }], {
          "a.txt": "a",
        }),
      );
      const { status, stdout } = await tool("upload crate.zip");
      expect(status).toBe(0);
      expect(stdout).toMatch(/^ark:99999\/rocrate-a-crate-\w+\n$/);
      expect((await tool("upload crate.zip")).stdout).toBe(stdout);
      for (const [name, content] of [
        [
          "ro-crate-metadata.json",
          metadata([
            { "@id": "b/b.txt", "@type": "File", name: "B" },
            { "@id": "empty/", "@type": "Dataset", name: "Nothing" },
          ]),
        ],
        ["b/b.txt", "b"],
      ] as const)
        await folder.write(`folder/${name}`, content);
      await mkdir(join(folder.path(), "folder", "empty"));
      const first = await tool("upload folder/");
      expect(first).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^ark:99999\/rocrate-/),
      });
      expect((await tool("upload ./folder")).stdout).toBe(first.stdout);
      expect(
        (await registry.ask(`/download/${first.stdout.trim()}/b/b.txt`, { token: ada.token })).text,
      ).toBe("b");
    },
  );

  it("groups warnings by code, with counts", async () => {
    const files = Array.from({ length: 12 }, (_, at) => ({
      "@id": `https://example.org/${at}`,
      "@type": "File",
      name: `F${at}`,
      contentUrl: `missing/${at}.txt`,
    }));
    await folder.write(
      "warned.zip",
      await crate(
        files,
        {},
        { name: "Warned", hasPart: files.map((file) => ({ "@id": file["@id"] })) },
      ),
    );
    const { status, stdout, stderr } = await tool("upload warned.zip");
    expect(status).toBe(0);
    const lines = stderr
      .trimEnd()
      .split("\n")
      .filter((line) => line.includes("FILE_NOT_IN_ARCHIVE"));
    expect(lines).toEqual([
      expect.stringMatching(
        /^arkgraph: warning: ro-crate-metadata\.json#\/@graph\/\d+: .* \(FILE_NOT_IN_ARCHIVE, 12 times\)$/,
      ),
    ]);
    expect(stderr).toMatch(/\narkgraph: see all \d+ warnings with arkgraph status \S+ --json\n$/);
    const [, id] = /arkgraph status (\S+)/.exec(stderr)!;
    const shown = (await tool(`status ${id}`)).stdout;
    expect(shown.match(/FILE_NOT_IN_ARCHIVE/g)).toHaveLength(1);
    expect(shown).toContain("FILE_NOT_IN_ARCHIVE, 12 times");
    expect(stdout).toMatch(/^ark:99999\/rocrate-warned-\w+\n$/);
  });

  it("prints JSON, or only the identifier of the upload; status shows the rest", async () => {
    await folder.write("other.zip", await crate([], {}, { name: "Other" }));
    const json = await tool("upload other.zip --json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      status: "finished",
      success: true,
      completed: true,
    });
    await folder.write("third.zip", await crate([], {}, { name: "Third" }));
    const { status, stdout, stderr } = await tool("upload third.zip --no-wait");
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringMatching(
        /^arkgraph: see its progress with arkgraph status \S+ --wait\n$/,
      ),
    });
    expect(stdout).toMatch(new RegExp(`^${UUID.source}\\n$`));
    const logged = await tool(`status ${stdout.trim()} --wait`);
    expect(logged.status).toBe(0);
    expect(logged.stdout).toMatch(/^status {7}finished$/m);
    expect(logged.stdout).toMatch(/^crate {8}ark:99999\/rocrate-third-/m);
    const list = (await tool("status")).stdout;
    expect(list.split("\n")[3]).toContain(stdout.trim());
    expect(list).toContain("finished");
    expect(JSON.parse((await tool("status --json --limit 1")).stdout)).toHaveLength(1);
  });

  it(
    "updates the crate that --update names, and warns of a similar crate and of a " +
      "repeated archive",
    async () => {
      const archive = (text: string) =>
        crate(
          [{ "@id": "n.txt", "@type": "File", name: "N" }],
          { "n.txt": text },
          { name: "Named" },
        );
      await folder.write("named-1.zip", await archive("one"));
      await folder.write("named-2.zip", await archive("two"));
      await folder.write("named-3.zip", await archive("three"));
      const ark = (await tool("upload named-1.zip")).stdout.trim();
      expect(await tool("upload named-1.zip")).toMatchObject({
        status: 0,
        stdout: `${ark}\n`,
        stderr: expect.stringContaining(`already registered as ${ark}, now at revision 1`),
      });
      const second = await tool("upload named-2.zip");
      expect(second.stdout.trim()).not.toBe(ark);
      expect(second.stderr).toContain(`arkgraph upload --update ${ark}`);
      expect(await tool(`upload --update ${ark} named-3.zip`)).toMatchObject({
        status: 0,
        stdout: `${ark}\n`,
      });
      expect((await registry.ask(`/download/${ark}/n.txt`, { token: ada.token })).text).toBe(
        "three",
      );
      expect((await tool("upload named-1.zip")).stderr).toContain(
        `already registered as ${ark}, now at revision 2`,
      );
      // Without an identifier the crate itself names what it updates; this one does not.
      const third = await tool("upload --update named-2.zip");
      expect(third).toMatchObject({
        status: 0,
        stderr: expect.stringContaining("(ROOT_WITHOUT_ARK)"),
      });
      expect(await tool("upload named-2.zip --update ark:99999/nobody")).toEqual(
        failure(/Nothing is stored under ark:99999\/nobody\./),
      );
      expect(await tool("upload --update=nothing named-2.zip")).toEqual(
        failure(/--update nothing: not an ARK.*/),
      );
    },
  );

  it("says in one line why a crate was not ingested", async () => {
    await folder.write(
      "broken.zip",
      await crate([
        { "@id": "gone.txt", "@type": "File", name: "Gone" },
        { "@id": "lost.txt", "@type": "File", name: "Lost" },
      ]),
    );
    const ended = await tool("upload broken.zip");
    expect(ended).toEqual(
      failure(
        /the crate was not ingested: ro-crate-metadata\.json#\/@graph\/2: .+ \(FILE_MISSING\), and 1 more: arkgraph status \S+/,
      ),
    );
    const id = UUID.exec(ended.stderr)![0];
    const logged = await tool(`status ${id}`);
    expect(logged.status).toBe(1);
    expect(logged.stdout.match(/^error .*FILE_MISSING/gm)).toHaveLength(2);
    expect((await tool("upload broken.zip --json")).status).toBe(1);
  });

  it("refuses a file that is no crate before it sends anything", async () => {
    await folder.write("text.zip", "text");
    await folder.write("linked/ro-crate-metadata.json", metadata());
    await symlink("/etc/passwd", join(folder.path(), "linked", "l"));
    expect(await tool("upload text.zip")).toEqual(
      failure(
        "text.zip is not a zip archive: give the folder of a crate, a zip of it, a metadata " +
          "document, or a file of OpenLineage events",
      ),
    );
    expect(await tool("upload linked")).toEqual(failure(/linked\/l is a symbolic link: .*/));
    expect(await tool("upload none")).toEqual(failure("none: there is no such file or folder"));
    expect(await tool("upload crate.zip", { ARKGRAPH_TOKEN: "" })).toEqual(
      failure(/you are not logged in to http.*: run arkgraph login/),
    );
    expect(await tool("upload crate.zip", { ARKGRAPH_TOKEN: "bad" })).toEqual(
      failure(/.* \(run arkgraph login\)/),
    );
    expect((await tool("upload")).status).toBe(2);
  });

  it("reports the registry's refusal while the archive is still being sent", async () => {
    await folder.write(
      "large.zip",
      Buffer.concat([Buffer.from("PK\u0003\u0004"), Buffer.alloc(30 << 20, 1)]),
    );
    expect(await tool("upload large.zip")).toEqual(failure(/.*MAX_UPLOAD_BYTES.*/));
  });

  it("waits while the registry is killed and restarted", async () => {
    await folder.write("slow.zip", await largeCrate("slow", ENTITIES));
    const began = tool("upload slow.zip");
    const running = async () =>
      (
        (await registry.graphql("{ submissions(first: 1) { nodes { status } } }", {}, ada.token))
          .body["data"] as { submissions: { nodes: { status: string }[] } }
      ).submissions.nodes[0]?.status;
    const deadline = Date.now() + 20_000;
    while ((await running()) !== "RUNNING" && Date.now() < deadline) await sleep(20);
    await registry.kill();
    await sleep(700);
    registry = await RegistryProcess.start({
      dataDir: registry.dataDir,
      env: { PORT: new URL(registry.url).port, MAX_ATTEMPTS: "20", MAX_UPLOAD_BYTES: "20M" },
    });
    expect(await began).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^ark:99999\/rocrate-slow-\w+\n$/),
      stderr: expect.anything(),
    });
  }, 60_000);

  it("says what to do when the registry becomes unavailable while it sends", async () => {
    const server = createServer((socket) =>
      socket.on("error", () => undefined).once("data", () => socket.destroy()),
    );
    const port = await new Promise<number>((resolve) =>
      server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port)),
    );
    expect(await tool("upload large.zip", { ARKGRAPH_SERVER: `http://127.0.0.1:${port}` })).toEqual(
      failure(
        /http:\/\/127\.0\.0\.1:\d+ closed the connection before it answered \(E\w+\); run the same command again: the same archive is ingested only once/,
      ),
    );
    server.close();
  });
});

describe.skipIf(!hasTerminals)("arkgraph upload on a terminal", () => {
  it("shows its progress, and says how to resume after Ctrl+C", async () => {
    await folder.write("long.zip", await largeCrate("long", ENTITIES));
    const { status, shown } = await terminal("upload long.zip", [["Processing", "\u0003"]]);
    expect(shown).toMatch(/Sending .*█/);
    expect(shown).toMatch(/Processing/);
    expect(shown).toMatch(
      /arkgraph: stopped waiting; the registry continues with the upload: see its progress with arkgraph status \S+ --wait\n/,
    );
    expect(status).toBe(130);
    const id = UUID.exec(shown.slice(shown.indexOf("stopped waiting")))![0];
    const resumed = await terminal(`status ${id} --wait`);
    expect(resumed.status).toBe(0);
    expect(resumed.shown).toMatch(/status {7}finished/);
  }, 60_000);

  it("ends at once on Ctrl+C while it sends", async () => {
    const sockets: Socket[] = [];
    // Takes the connection and reads nothing.
    const server = createServer(
      { pauseOnConnect: true },
      (socket) => void sockets.push(socket.on("error", () => undefined)),
    );
    const port = await new Promise<number>((resolve) =>
      server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port)),
    );
    const { status, shown } = await terminal("upload large.zip", [["Sending", "\u0003"]], {
      ARKGRAPH_SERVER: `http://127.0.0.1:${port}`,
    });
    expect(status).toBe(130);
    expect(shown).toContain(
      "arkgraph: stopped before the upload was complete: nothing was ingested; run the " +
        "same command again\n",
    );
    for (const socket of sockets) socket.destroy();
    server.close();
  });
});
