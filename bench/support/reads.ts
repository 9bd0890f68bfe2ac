import { Agent, get } from "node:http";
import { waitedForCore } from "./waits.js";

/** ms between two reads. */
const EACH = 20;

/**
 * Times, in ms, of one read each 20 ms until the work is done; a slow answer delays no later
 * question.
 * @param pid of the server: the time that it and the reader waited for a core is left out
 */
export async function reads(
  url: string,
  work: () => Promise<unknown>,
  pid?: number,
): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const times: Promise<number>[] = [];
  const clock = setInterval(() => {
    const time = read(url, agent, pid);
    // It may fail long before its result is awaited.
    time.catch(() => undefined);
    times.push(time);
  }, EACH);
  try {
    await work();
  } finally {
    clearInterval(clock);
  }
  const all = await Promise.all(times);
  agent.destroy();
  return all;
}

function read(url: string, agent: Agent, pid?: number): Promise<number> {
  const waited = () => (pid === undefined ? 0 : waitedForCore(pid) + waitedForCore("self"));
  const before = waited();
  const asked = performance.now();
  return new Promise((resolve, reject) => {
    get(url, { agent }, (answer) => {
      answer
        .on("end", () =>
          answer.statusCode === 200
            ? resolve(Math.max(0, performance.now() - asked - (waited() - before)))
            : reject(new Error(`a read was answered ${answer.statusCode}`)),
        )
        .resume();
    }).on("error", reject);
  });
}
