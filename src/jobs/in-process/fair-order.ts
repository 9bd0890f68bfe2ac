/**
 * What waits, in start-time fair queueing: a new job comes after its user's last, but no earlier than what is next now. So everybody has one
 * job in each round, whoever came first with however many. `bullmq/fair-turns.ts` does the same in Redis.
 */
export class FairOrder {
  private readonly rounds = new Map<number, string[]>();
  private readonly ids = new Set<string>();
  /** Of each user, the round of the last job. */
  private readonly last = new Map<string, number>();
  private now = 1;

  get size(): number {
    return this.ids.size;
  }

  has(id: string): boolean {
    return this.ids.has(id);
  }

  add(id: string, user: string): void {
    const round = Math.max(this.now, (this.last.get(user) ?? 0) + 1);
    this.last.set(user, round);
    this.ids.add(id);
    const known = this.rounds.get(round);
    if (known) known.push(id);
    else this.rounds.set(round, [id]);
  }

  next(): string | undefined {
    if (this.ids.size === 0) return undefined;
    let round = this.rounds.get(this.now);
    while (!round) round = this.rounds.get(++this.now);
    const id = round.shift()!;
    if (round.length === 0) this.rounds.delete(this.now);
    this.ids.delete(id);
    // Nobody is ahead of anybody any more.
    if (this.ids.size === 0) this.last.clear();
    return id;
  }

  clear(): void {
    this.rounds.clear();
    this.ids.clear();
    this.last.clear();
  }
}
