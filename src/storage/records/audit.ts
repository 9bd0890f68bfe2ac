/** What commits record in the audit log. */
import type { PublicationStatus } from "../../model/kind.js";
import type {
  AccountChange,
  AuditAction,
  AuditDetail,
  Commit,
  CommittedRecord,
  NewAuditEntry,
  RecordWrite,
} from "./port.js";

/** A write without what a store prepares of it. */
type Write = RecordWrite extends infer Each
  ? Each extends RecordWrite
    ? Omit<Each, "quads" | "links" | "text" | "keywords">
    : never
  : never;
type Acts = Pick<Commit, "at" | "by" | "from" | "account" | "uses"> & {
  readonly records: readonly Write[];
};

/**
 * The entries of a commit: one for each kind of act, whatever the number of records, such as those
 * of a crate; the history of each record has the others.
 * @param done the same records after the commit
 */
export function auditOf(commit: Acts, done: readonly CommittedRecord[]): NewAuditEntry[] {
  const { at, by, from, account, uses, records } = commit;
  const acts = new Map<AuditAction, { subject: string; records: number; detail: AuditDetail }>();
  const revisions = new Map<string, number>();
  for (const [index, write] of records.entries()) {
    const { revision } = done[index]!;
    const before = "ifRevision" in write ? write.ifRevision : revisions.get(write.ark);
    revisions.set(write.ark, revision);
    if (write.op !== "delete" && revision === before) continue;
    for (const [action, detail] of actsOf(write, revision)) {
      const known = acts.get(action);
      if (known) known.records++;
      else acts.set(action, { subject: write.ark, records: 1, detail });
    }
  }
  const entry = (action: AuditAction, subject: string, detail: AuditDetail): NewAuditEntry => ({
    at,
    action,
    actor: by,
    name: null,
    address: from ?? null,
    subject,
    detail,
  });
  return [
    ...[...acts].map(([action, { subject, records: count, detail }]) =>
      entry(action, subject, {
        ...detail,
        ...(count > 1 ? { records: count } : {}),
        ...(uses && uses.crate !== subject ? { crate: uses.crate } : {}),
      }),
    ),
    ...(account ? accountActs(account) : []).map(([action, detail]) =>
      entry(action, account!.user, detail),
    ),
  ];
}

type Act = readonly [action: AuditAction, detail: AuditDetail];

function publication(status: PublicationStatus): Act[] {
  const isOpen = status === "PUBLISHED" || status === "EMBARGOED";
  return [[isOpen ? "PUBLISHED" : "WITHDRAWN", { status }]];
}

/** @param revision after the write */
function actsOf(write: Write, revision: number): Act[] {
  switch (write.op) {
    case "create": {
      const status = write.publicationStatus ?? "DRAFT";
      return status === "DRAFT" ? [] : publication(status);
    }
    case "delete":
      return [["DELETED", {}]];
    case "publish":
      return publication(write.status);
    case "replace": {
      const states = (field: string): boolean =>
        write.changed.some((pointer) => pointer === field || pointer.startsWith(`${field}/`));
      const acts: Act[] = [];
      if (states("/owner"))
        acts.push(["OWNER_CHANGED", write.owner === null ? {} : { owner: write.owner }]);
      // The history of the group says who came and who left.
      if (states("/members")) acts.push(["MEMBERS_CHANGED", { revision }]);
      if (write.dropObjects) acts.push(["CONTENT_DELETED", {}]);
      return acts;
    }
  }
}

function accountActs(change: AccountChange): Act[] {
  switch (change.op) {
    case "create":
      return [["ACCOUNT_CREATED", change.admin ? { admin: true } : {}]];
    // Its record is deleted with it.
    case "delete":
      return [];
    case "update": {
      const { passwordHash, email, admin, disabled } = change;
      const acts: Act[] = [];
      if (passwordHash !== undefined) acts.push(["PASSWORD_CHANGED", {}]);
      if (email !== undefined) acts.push(["EMAIL_CHANGED", {}]);
      if (admin !== undefined) acts.push([admin ? "ADMIN_GRANTED" : "ADMIN_REMOVED", {}]);
      if (disabled !== undefined)
        acts.push([disabled ? "ACCOUNT_DISABLED" : "ACCOUNT_ENABLED", {}]);
      return acts;
    }
  }
}
