// Ends the process at the first rejection that nobody handles, whatever else listens for it.
process.on("unhandledRejection", (reason) => {
  console.error("unhandled rejection:", reason);
  process.exit(70);
});
