// Prints the most memory that the process had, in kB, at its end.
process.on("exit", () => process.stderr.write(`${process.resourceUsage().maxRSS}\n`));
