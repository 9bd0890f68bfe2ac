import type {
  Committed,
  CredentialStore,
  LeaseStore,
  ObjectBookkeeping,
  RecordStore,
  RecordWrite,
  ScoreStore,
  VectorStore,
} from "../port.js";
import { asSent, type SentError } from "../refusals.js";
import type { Submission, SubmissionStore } from "../submissions-port.js";
import type { PackedVector } from "../vectors/matrix.js";
import type { PreparedCommit } from "./prepared-write.js";
import { asStoreError } from "./statement-error.js";

/**
 * All operations of the writer, by name: arguments and result, as they cross the thread boundary.
 */
export interface WriterCalls {
  commit: { args: [PreparedCommit]; result: Committed };
  setSetting: { args: Parameters<RecordStore["setSetting"]>; result: string | undefined };
  noteSignIn: { args: Parameters<RecordStore["noteSignIn"]>; result: void };
  storeCredential: { args: Parameters<CredentialStore["storeCredential"]>; result: boolean };
  useCredential: { args: Parameters<CredentialStore["useCredential"]>; result: void };
  removeCredential: { args: Parameters<CredentialStore["removeCredential"]>; result: boolean };
  lease: { args: Parameters<LeaseStore["lease"]>; result: { fence: number } | undefined };
  releaseLease: { args: Parameters<LeaseStore["releaseLease"]>; result: void };
  storeScore: { args: Parameters<ScoreStore["storeScore"]>; result: void };
  storeVectors: {
    args: [model: string, step: { after: string; to: string; vectors: readonly PackedVector[] }];
    result: boolean;
  };
  forgetVectors: { args: Parameters<VectorStore["forgetVectors"]>; result: number };
  submit: {
    args: Parameters<SubmissionStore["submit"]>;
    result: { submission: Submission; existing: boolean };
  };
  beginAttempt: {
    args: Parameters<SubmissionStore["beginAttempt"]>;
    result: Submission | undefined;
  };
  yieldAttempt: { args: Parameters<SubmissionStore["yieldAttempt"]>; result: boolean };
  setStage: { args: Parameters<SubmissionStore["setStage"]>; result: boolean };
  closeSubmission: { args: Parameters<SubmissionStore["closeSubmission"]>; result: boolean };
  cancelSubmission: {
    args: Parameters<SubmissionStore["cancelSubmission"]>;
    result: Submission | undefined;
  };
  intend: { args: Parameters<ObjectBookkeeping["intend"]>; result: { removing: string[] } };
  release: { args: Parameters<ObjectBookkeeping["release"]>; result: void };
  claimUnreferenced: { args: Parameters<ObjectBookkeeping["claimUnreferenced"]>; result: string[] };
  removed: { args: Parameters<ObjectBookkeeping["removed"]>; result: void };
}
export type WriterCall = keyof WriterCalls;

/**
 * Messages to the writer. `part`: records of a large commit that follows under the same id;
 * preparing and copying all of them into one message would block the serving thread. `keep`: which
 * of the parts so far the commit has, by number; without one it has none, and follows no more.
 */
export type WriterRequest =
  | { tasks: WriterTask[] }
  | { id: number; part: RecordWrite[] }
  | { id: number; keep: readonly number[] }
  | { close: true };
export interface WriterTask {
  id: number;
  call: WriterCall;
  args: unknown[];
}
/** The thread's answers: one when ready, then one message for each group, after its COMMIT. */
export type WriterMessage =
  | { ready: true; sequence: number }
  | { failed: SentError }
  | { answers: WriterAnswer[]; sequence: number }
  | { closed: true };
export type WriterAnswer = { id: number; result: unknown } | { id: number; error: SentError };

/** An error in the form that is sent to another thread. */
export const sendError = (error: unknown): SentError => asSent(error, asStoreError);
