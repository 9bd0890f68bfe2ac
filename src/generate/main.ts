import { drifted, generate } from "./outputs.js";

// `npm run generate` writes every generated file; with `--check` it only lists the files that
// differ from the code.
if (process.argv.includes("--check")) {
  const files = await drifted();
  if (files.length > 0) {
    process.stderr.write(
      `These files are not up to date: ${files.join(", ")}. Run \`npm run generate\` and ` +
        "commit the result.\n",
    );
    process.exitCode = 1;
  }
} else {
  const files = await generate();
  process.stdout.write(
    files.length > 0 ? `Wrote ${files.join(", ")}\n` : "All generated files are up to date.\n",
  );
}
