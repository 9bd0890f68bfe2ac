// The same rules and answers for browsers that have signed in as for programs with a token.
process.env["ACCESS_BY"] = "session";
await import("./differential.test.js");

export {};
