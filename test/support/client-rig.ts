import { afterAll, beforeAll } from "vitest";
import { type Ended, useFolder } from "../cli/terminal.js";
import { PASSWORD, type Person, startServer, type TestServer } from "./server.js";

/**
 * A registry, a user with an account there, and the tool in a folder of its own, with the address
 * of the registry in its environment.
 */
export function useRegistry(settings: Record<string, string> = {}): {
  folder: ReturnType<typeof useFolder>;
  server(): TestServer;
  ada(): Person;
  env(): Record<string, string>;
  /** Runs the tool; words are split at blanks. */
  tool(
    command: string | readonly string[],
    input?: string | Uint8Array,
    env?: Record<string, string>,
  ): Promise<Ended>;
  login(): Promise<Ended>;
} {
  const folder = useFolder();
  let server: TestServer;
  let ada: Person;
  beforeAll(async () => {
    server = await startServer(settings);
    ada = await server.person("ada");
  });
  afterAll(() => server.stop());
  const env = () => ({
    ARKGRAPH_SERVER: server.url,
    XDG_CONFIG_HOME: `${folder.path()}/config`,
    HOME: folder.path(),
  });
  const tool = (
    command: string | readonly string[],
    input?: string | Uint8Array,
    more: Record<string, string> = {},
  ) => folder.run(command, input, { ...env(), ...more });
  return {
    folder,
    server: () => server,
    ada: () => ada,
    env,
    tool,
    login: () => tool(`login ${ada.email} --password-stdin`, `${PASSWORD}\n`),
  };
}

/** Exit status 1 and one line on standard error. */
export const failure = (
  line: string | RegExp,
): { status: number; stdout: string; stderr: unknown } => ({
  status: 1,
  stdout: "",
  stderr: oneLine(line),
});
const oneLine = (line: string | RegExp): unknown =>
  new Matching(
    typeof line === "string"
      ? `arkgraph: ${line}\n`
      : new RegExp(`^arkgraph: (?:${line.source})\\n$`),
  );

/** For `toEqual`: text, or a pattern of it. */
class Matching {
  readonly $$typeof = Symbol.for("jest.asymmetricMatcher");
  readonly #expected: string | RegExp;

  constructor(expected: string | RegExp) {
    this.#expected = expected;
  }
  asymmetricMatch(actual: unknown): boolean {
    return (
      typeof actual === "string" &&
      (typeof this.#expected === "string" ? actual === this.#expected : this.#expected.test(actual))
    );
  }
  toString(): string {
    return String(this.#expected);
  }
  toAsymmetricMatcher(): string {
    return `text like ${this.#expected}`;
  }
}
