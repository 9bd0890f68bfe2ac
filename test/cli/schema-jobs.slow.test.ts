import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Jobs } from "../../cli/commands/schema/jobs.js";
import type { Report } from "../../cli/commands/schema/report.js";
import { schemaOf, useFolder } from "./terminal.js";

describe("schema validate --jobs", () => {
  const { path, run, write } = useFolder();
  const SCHEMA = schemaOf(
    {
      gene: { description: "A gene", index: 0, type: "string", pattern: "^[A-Z0-9]+$" },
      score: { description: "Its score", index: 1, type: "number", maximum: 1 },
    },
    { header: true },
  );
  const rows = (count: number, wrong: number) =>
    `gene,score\n${Array.from({ length: count }, (_, at) => `G${at},${at < wrong ? at + 2 : 0.5}\n`).join("")}`;
  const FILES = ["large.csv", "good.csv", "missing.csv", "bad.csv", "good.csv", "swapped.csv"];

  it.each(["table", "json", "ndjson", "sarif", "github", "junit"])(
    "reports as one file after the other does: %s",
    async (format) => {
      await write("s.json", JSON.stringify(SCHEMA));
      await write("large.csv", rows(20_000, 9_000));
      await write("good.csv", rows(3, 0));
      await write("bad.csv", "gene,score\nlow,x\nG1,7\n");
      await write("swapped.csv", "score,gene\nG1,0.5\n");
      const args = ["schema", "validate", "--schema", "s.json", "--format", format, ...FILES];
      const one = await run(args);
      const several = await run([...args, "--jobs", "3"]);
      const ofRun = (text: string) => text.replace(/time(?:stamp)?="[^"]*"/g, "");
      expect(ofRun(several.stdout)).toBe(ofRun(one.stdout));
      expect([several.status, one.status]).toEqual([1, 1]);
      expect(several.stderr).toContain("missing.csv: there is no such file or folder");
      const lines = (text: string) => text.split("\n").toSorted();
      expect(lines(several.stderr)).toEqual(lines(one.stderr));
    },
  );

  it("reports a process that is killed as a failure of its file, and checks the next one", async () => {
    // Says that it begins, and is gone while that is reported; the second file conforms.
    await write(
      "check.mjs",
      `process.once("message", ({ file }) => {
        if (file === "good.csv") return process.send({ summary: { errors: 0 } });
        process.send({ begin: file }, () => process.kill(process.pid, "SIGKILL"));
      });`,
    );
    const started = process.argv[1]!;
    process.argv[1] = join(path(), "check.mjs");
    const silent = async (): Promise<void> => {};
    const report: Report = {
      find: silent,
      begin: () => sleep(500),
      add: silent,
      end: silent,
      abandon: silent,
      finish: silent,
    };
    try {
      const jobs = new Jobs(["bad.csv", "good.csv"], {}, 1);
      await expect(jobs.next(report)).rejects.toThrow("bad.csv: the process that checked it ended");
      expect(await jobs.next(report)).toEqual({ errors: 0 });
    } finally {
      process.argv[1] = started;
    }
  });

  it("has status 0 where all conform, and 1 with --strict for a finding", async () => {
    const args = ["schema", "validate", "--schema", "s.json", "--jobs", "2", "good.csv"];
    expect((await run([...args, "good.csv"])).status).toBe(0);
    expect((await run([...args, "swapped.csv"])).status).toBe(0);
    expect((await run([...args, "swapped.csv", "--strict"])).status).toBe(1);
  });
});
