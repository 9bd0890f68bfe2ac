import { vi } from "vitest";

// The same rules and answers for browsers that have signed in as for programs with a token.
vi.stubEnv("ACCESS_BY", "session");
await import("./differential.test.js");
