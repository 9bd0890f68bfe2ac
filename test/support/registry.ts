import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { readConfig, type Config } from "../../src/config/config.js";
import { lookupArk } from "../../src/identifiers/ark.js";
import { InProcessJobQueue } from "../../src/jobs/in-process/job-queue.js";
import { openFileObjects } from "../../src/storage/objects/files/store.js";
import type { ObjectStore } from "../../src/storage/objects/port.js";
import { openSqliteRecordStore } from "../../src/storage/records/sqlite/index.js";
import type { RecordStore, StoredRecord } from "../../src/storage/records/port.js";
import type { Submission } from "../../src/storage/records/port/submissions.js";
import { readCrateArchive } from "../../src/services/formats/read-crate.js";
import { planCrate, type CratePlan } from "../../src/services/crates/plan.js";
import {
  type CrateSubmissionInput,
  type IntakeDeps,
  intakeHandler,
} from "../../src/services/crates/intake.js";
import { pagesOf } from "../../src/services/records/pages.js";

export const UPLOADER = "ark:99999/user-ada";
export const BASE_URL = "https://registry.example";

/** Stores and a queue that ingests crates, without HTTP. */
export interface IntakeRig {
  records: RecordStore;
  objects: ObjectStore;
  jobs: InProcessJobQueue;
  /** Stores an archive and runs its submission to the end. */
  upload(
    archive: Uint8Array,
    options?: { user?: string; input?: CrateSubmissionInput },
  ): Promise<Submission>;
  /** The result of a dry run of an upload. */
  plan(
    archive: Uint8Array,
    options?: {
      user?: string;
      format?: "zip" | "metadata";
      update?: boolean;
      emptyLinked?: boolean;
    },
  ): Promise<CratePlan>;
  /** Every record, by the order of creation. */
  all(): Promise<StoredRecord[]>;
  document(ark: string): Promise<Record<string, unknown>>;
  /** The archive that the registry makes of a crate, for its uploader. */
  exported(ark: string, user?: string): Promise<Buffer>;
  close(): Promise<void>;
}

/** @param ingest in place of a thread for each crate */
export async function openIntakeRig(
  settings: Partial<Config> = {},
  ingest?: IntakeDeps["ingest"],
): Promise<IntakeRig> {
  const folder = await mkdtemp(join(tmpdir(), "intake-"));
  const location = { files: join(folder, "objects") };
  const config = { ...readConfig({}), ...settings };
  const [objects, records] = await Promise.all([
    openFileObjects(location.files),
    openSqliteRecordStore({ file: join(folder, "records.db") }),
  ]);
  const faults: unknown[] = [];
  const jobs = new InProcessJobQueue({
    store: records,
    maxAttempts: config.MAX_ATTEMPTS,
    concurrency: config.JOB_CONCURRENCY,
    backOff: () => 10,
    onFault: (_, error) => faults.push(error),
  });
  await jobs.start(
    intakeHandler({
      records,
      objectsLocation: location,
      config,
      baseUrl: () => BASE_URL,
      ...(ingest ? { ingest } : {}),
    }),
  );
  return {
    records,
    objects,
    jobs,
    async upload(archive, { user = UPLOADER, input = {} } = {}) {
      const staged = await objects.stage(Readable.from([archive]));
      await staged.publish();
      const { submission } = await records.submit({
        id: randomUUID(),
        type: "crate",
        user,
        sha256: staged.sha256,
        input: { ...input },
        update: input.update === true,
        at: Date.now(),
      });
      await jobs.enqueue(submission.id);
      for await (const _ of jobs.watch(submission.id)) void _;
      if (faults.length > 0) throw faults[0];
      return (await records.submission(submission.id))!;
    },
    async plan(
      archive,
      { user = UPLOADER, format = "zip", update = false, emptyLinked = false } = {},
    ) {
      const staged = await objects.stage(Readable.from([archive]));
      try {
        return await planCrate(
          { records, objectsLocation: location, config, baseUrl: () => BASE_URL },
          { sha256: staged.sha256, staged: staged.place, user, format, update, emptyLinked },
          AbortSignal.timeout(60_000),
        );
      } finally {
        await staged.discard();
      }
    },
    async all() {
      const found: StoredRecord[] = [];
      for await (const page of pagesOf(records, { filter: {} }, { limit: 500 }))
        found.push(...page);
      return found;
    },
    async document(ark) {
      const [record] = await records.findMany([ark]);
      return JSON.parse(Buffer.from(record!.document).toString()) as Record<string, unknown>;
    },
    async exported(ark, user = UPLOADER) {
      const deps = { records, objects, log: console, config, baseUrl: () => BASE_URL };
      const archive = await readCrateArchive(deps, lookupArk(ark)!, {
        user,
        admin: false,
      });
      return buffer(archive.open());
    },
    async close() {
      await jobs.close(1000);
      await records.close();
      await rm(folder, { recursive: true });
    },
  };
}
