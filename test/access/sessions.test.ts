import { afterAll, vi } from "vitest";

// The same rules and answers for browsers that have signed in as for programs with a token. A copy of
// its own: files share modules, and of one that ran before nothing would be left to run.
vi.stubEnv("ACCESS_BY", "session");
afterAll(() => void vi.unstubAllEnvs());
const copy = "./differential.test.js?by=session";
await import(/* @vite-ignore */ copy);
