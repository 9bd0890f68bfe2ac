import { Agent, get } from "node:http";

/** ms between two reads. */
const EACH = 20;

/** Times, in ms, of one read each 20 ms until the work is done; a slow answer delays no later question. */
export async function reads(url: string, work: () => Promise<unknown>): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const times: Promise<number>[] = [];
  const clock = setInterval(() => times.push(read(url, agent)), EACH);
  try {
    await work();
  } finally {
    clearInterval(clock);
  }
  const all = await Promise.all(times);
  agent.destroy();
  return all;
}

function read(url: string, agent: Agent): Promise<number> {
  const asked = performance.now();
  return new Promise((resolve, reject) => {
    get(url, { agent }, (answer) => {
      answer.on("end", () => (answer.statusCode === 200 ? resolve(performance.now() - asked) : reject(new Error(`a read was answered ${answer.statusCode}`)))).resume();
    }).on("error", reject);
  });
}
