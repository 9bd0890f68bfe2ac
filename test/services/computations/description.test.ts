import { describe, expect, it } from "vitest";
import { describeRun } from "../../../src/services/computations/run.js";
import { FileNames } from "../../../src/services/computations/inputs.js";

const code = (document: Parameters<typeof describeRun>[0], allowed = "*"): string => {
  try {
    describeRun(document, allowed);
    return "none";
  } catch (error) {
    return (error as { finding: { code: string } }).finding.code;
  }
};

describe("the description of a computation's run", () => {
  it("is an image, and a line for the shell or arguments for the image", () => {
    expect(describeRun({ container: " docker://lab/count:1 ", command: "a | b" }, "*")).toEqual({
      image: "lab/count:1",
      entrypoint: ["/bin/sh", "-c"],
      command: ["a | b"],
    });
    expect(describeRun({ container: "lab/count@sha256:00ff", command: ["a", "b c"] }, "*")).toEqual(
      { image: "lab/count@sha256:00ff", command: ["a", "b c"] },
    );
    for (const command of [null, [], undefined])
      expect(
        describeRun({ container: "x", ...(command === undefined ? {} : { command }) }, "*"),
      ).toEqual({ image: "x" });
    expect(code({ container: "x", command: [1] })).toBe("COMMAND_INVALID");
    expect(code({ container: "x", command: { a: "b" } })).toBe("COMMAND_INVALID");
    expect(code({ container: "x", command: "y".repeat(200_000) })).toBe("COMMAND_INVALID");
    for (const container of [null, "", 3, ["x"], "a/../b", "a b", "-x", "x?y", "a//b", "x\n"])
      expect(code({ container }), JSON.stringify(container)).toBe(
        container === "x\n" ? "none" : "NO_IMAGE",
      );
  });

  it("is compared with the images that may be run", () => {
    const allowed = "localhost/lab/*, quay.io/*/tool:1, exact:2";
    for (const container of [
      "localhost/lab/x:1",
      "quay.io/a/tool:1",
      "quay.io/a/b/tool:1",
      "exact:2",
    ])
      expect(code({ container }, allowed), container).toBe("none");
    for (const container of [
      "localhost/lab",
      "evil/localhost/lab/x",
      "quay.io/tool:1",
      "exact:20",
      "exact",
    ])
      expect(code({ container }, allowed), container).toBe("IMAGE_NOT_ALLOWED");
  });
});

describe("names of files that are mounted into a run", () => {
  it("are preserved where they are safe and free, and changed otherwise", () => {
    const names = new FileNames();
    const wanted = [
      "a.csv",
      "a.csv",
      "d/a.csv",
      "../../etc/passwd",
      "/abs",
      "a.csv/inner",
      "d",
      "",
      "..",
      "x\u0000\ny",
      "b\\c",
      ".hidden",
      "d/./e",
      `${"é".repeat(200)}.txt`,
    ];
    expect(wanted.map((name) => names.claim(name))).toEqual([
      "a.csv",
      "a-2.csv",
      "d/a.csv",
      "etc/passwd",
      "abs",
      "inner",
      "d-2",
      "file",
      "file-2",
      "x__y",
      "b_c",
      ".hidden",
      "d/e",
      "é".repeat(120),
    ]);
  });
});
