import { Failure } from "../../failure.js";
import { note } from "../../render/progress.js";
import { Refusal, type Registry } from "../../registry/registry.js";

/** Bytes and events of one request; the registry's own limits may be lower. */
const [MOST_BYTES, MOST_EVENTS] = [2 ** 20, 200];

interface Receipt {
  events: number;
  records: { "@id": string; kind: string; change: string }[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isEvent = (value: unknown): boolean =>
  isObject(value) &&
  "eventTime" in value &&
  ["run", "job", "dataset"].some((member) => isObject(value[member]));

/**
 * The events of an OpenLineage file: one event, a list of them, or one event on each line;
 * undefined for a file of something else.
 */
export function lineageEvents(text: string, file: string): unknown[] | undefined {
  const whole = parsed(text);
  if (whole !== undefined) {
    const events = Array.isArray(whole) ? whole : [whole];
    return events.length > 0 && events.every(isEvent) ? events : undefined;
  }
  const lines = text.split("\n");
  if (!isEvent(parsed(lines[0]!))) return undefined;
  return lines.flatMap((line, at) => {
    if (line.trim() === "") return [];
    const event = parsed(line);
    if (!isEvent(event))
      throw new Failure(`line ${at + 1} of ${file} is no event of OpenLineage; correct it`);
    return [event];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Sends the events in the order of the file; prints the identifiers of the runs. @throws Failure */
export async function sendLineage(
  registry: Registry,
  events: readonly unknown[],
  { json }: { json: boolean },
): Promise<void> {
  const records = new Map<string, Receipt["records"][number]>();
  for (const batch of batches(events))
    for (const { records: told } of await sent(registry, batch))
      for (const record of told) {
        const known = records.get(record["@id"]);
        if (known === undefined || record.change === "created") records.set(record["@id"], record);
        else if (known.change === "unchanged") known.change = record.change;
      }
  const all = [...records.values()];
  if (json) {
    process.stdout.write(`${JSON.stringify({ events: events.length, records: all }, null, 2)}\n`);
    return;
  }
  const count = (change: string): number => all.filter((one) => one.change === change).length;
  note(
    `${events.length} events: ${count("created")} records created, ${count("changed")} changed, ` +
      `${count("unchanged") + count("linked")} left as they are`,
  );
  for (const { "@id": id, kind } of all)
    if (kind === "Computation") process.stdout.write(`${id}\n`);
}

function* batches(events: readonly unknown[]): Generator<unknown[]> {
  let batch: unknown[] = [];
  let bytes = 0;
  for (const event of events) {
    const size = Buffer.byteLength(JSON.stringify(event));
    if (batch.length > 0 && (batch.length === MOST_EVENTS || bytes + size > MOST_BYTES)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(event);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** On 413 the batch is split in half and sent again: a registry may accept fewer. */
async function sent(registry: Registry, batch: readonly unknown[]): Promise<Receipt[]> {
  try {
    return [
      await registry.json<Receipt>("/api/v1/lineage", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(batch),
      }),
    ];
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 413 || batch.length === 1) throw error;
    const half = batch.length >> 1;
    return [
      ...(await sent(registry, batch.slice(0, half))),
      ...(await sent(registry, batch.slice(half))),
    ];
  }
}
