import DataLoader from "dataloader";

/** Statements on their way at a time: one of them may be slow without holding up the others. */
const UNDER_WAY = 2;
/** Questions of one statement. */
const LARGEST = 100;

/**
 * Asks the database once for what was asked for one by one, at the same moment or while the questions before were on their
 * way: under load a statement for each would cost more than what it finds. Nothing is kept, and nobody waits for others to come.
 *
 * @param ask answers in the order of the keys
 */
export function gathered<V>(ask: (keys: readonly string[]) => Promise<V[]>): (key: string) => Promise<V> {
  let underWay = 0;
  const waiting: (() => void)[] = [];
  const loader = new DataLoader<string, V>(async (keys) => {
    underWay++;
    try {
      return await ask(keys);
    } finally {
      underWay--;
      waiting.shift()?.();
    }
  }, {
    cache: false, maxBatchSize: LARGEST,
    batchScheduleFn(send) {
      if (underWay < UNDER_WAY) setImmediate(send);
      else waiting.push(send);
    },
  });
  return (key) => loader.load(key);
}
