// Ends the process at the first rejection that nobody handles, whatever else listens for it.
process.on("unhandledRejection", (reason) => {
  process.stderr.write(`unhandled rejection: ${reason?.stack ?? reason}\n`);
  process.exit(70);
});
