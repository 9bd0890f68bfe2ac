import type { Account, RecordStore } from "../../port.js";
import { readNumbers, submissionOf as ofRow, type SubmissionRow as Stored } from "../../rows.js";
import type { Submission, SubmissionPage } from "../../submissions-port.js";
import { isStorableText } from "../../text.js";
import { type Database, statement } from "../statement.js";

export const ACCOUNT_COLUMNS =
  "person, email, password_hash, admin, tokens_valid_from, deleted, disabled";
export type AccountRow = [
  user: string,
  email: string,
  passwordHash: string,
  admin: boolean,
  tokensValidFrom: number,
  deleted: boolean,
  disabled: boolean,
];

/** A row of {@link ACCOUNT_COLUMNS} as the port returns it. */
export const accountOf = ([
  user,
  email,
  passwordHash,
  admin,
  tokensValidFrom,
  deleted,
  disabled,
]: AccountRow): Account => ({
  user,
  email,
  passwordHash,
  admin,
  tokensValidFrom,
  disabled,
  deleted,
});

// Accounts that were deleted have no address any more.
const BY_EMAIL = statement<AccountRow>(
  `SELECT ${ACCOUNT_COLUMNS} FROM account WHERE email = $1 AND deleted = false`,
);
const BY_USER = statement<AccountRow>(`SELECT ${ACCOUNT_COLUMNS} FROM account WHERE person = $1`);
const COUNT = statement<[number]>("SELECT count(*) FROM account WHERE deleted = false");
const LIST = statement<
  [
    id: number,
    user: string,
    name: string | null,
    email: string,
    admin: boolean,
    disabled: boolean,
    createdAt: number,
    signedInAt: number | null,
  ]
>(
  `SELECT r.id, a.person, r.name, a.email, a.admin, a.disabled, r.created_at, a.signed_in_at
    FROM record AS r JOIN account AS a ON a.person = r.ark
    WHERE r.kind = 'user' AND r.deleted_at IS NULL AND r.id < $1 AND a.deleted = false
    ORDER BY r.id DESC LIMIT $2`,
);
const SETTING = statement<[string]>("SELECT value FROM setting WHERE name = $1");

type ListedPage = Awaited<ReturnType<RecordStore["accounts"]>>;

export class AccountReads {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async byEmail(email: string): Promise<Account | undefined> {
    const [row] = isStorableText(email) ? await this.#database.query(BY_EMAIL, [email]) : [];
    return row && accountOf(row);
  }

  async byUser(user: string): Promise<Account | undefined> {
    const [row] = isStorableText(user) ? await this.#database.query(BY_USER, [user]) : [];
    return row && accountOf(row);
  }

  async count(): Promise<number> {
    return (await this.#database.query(COUNT))[0]![0];
  }

  async list({ after, limit }: { after?: string; limit: number }): Promise<ListedPage> {
    const before = after === undefined ? Number.MAX_SAFE_INTEGER : readNumbers(after, 1)[0]!;
    const rows = await this.#database.query(LIST, [before, limit + 1]);
    const page = rows.slice(0, limit);
    return {
      items: page.map(([, user, name, email, admin, disabled, createdAt, signedInAt]) => ({
        user,
        name,
        email,
        admin,
        disabled,
        createdAt,
        signedInAt,
      })),
      positions: page.map(([id]) => String(id)),
      ...(rows.length > limit ? { next: String(page.at(-1)![0]) } : {}),
    };
  }

  async setting(name: string): Promise<string | undefined> {
    return isStorableText(name) ? (await this.#database.query(SETTING, [name]))[0]?.[0] : undefined;
  }
}

export const SUBMISSION_COLUMNS =
  "number, id, type, person, status, stage, attempt, interrupted, time_created, " +
  "time_started, time_finished, error, warnings, minted, rocrate, sha256, input, " +
  "cancelled::int";
export type SubmissionRow = Stored;

/** A row of {@link SUBMISSION_COLUMNS} as the port returns it. */
export const submissionOf = (row: SubmissionRow): Submission => ofRow(row);

const SELECT = `SELECT ${SUBMISSION_COLUMNS} FROM submission`;
const BY_ID = statement<SubmissionRow>(`${SELECT} WHERE id = $1`);
const OF_USER = statement<SubmissionRow>(
  `${SELECT} WHERE person = $1 AND number < $2 ORDER BY number DESC LIMIT $3`,
);
const ALL = statement<SubmissionRow>(`${SELECT} WHERE number < $1 ORDER BY number DESC LIMIT $2`);
const UNFINISHED = statement<SubmissionRow>(
  `${SELECT} WHERE status IN ('queued', 'running') ORDER BY number`,
);

export class SubmissionReads {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async byId(id: string): Promise<Submission | undefined> {
    const [row] = isStorableText(id) ? await this.#database.query(BY_ID, [id]) : [];
    return row && submissionOf(row);
  }

  /** @param user null for all users */
  async list(
    user: string | null,
    { after, limit }: { after?: string; limit: number },
  ): Promise<SubmissionPage> {
    const before = after === undefined ? Number.MAX_SAFE_INTEGER : readNumbers(after, 1)[0]!;
    if (user !== null && !isStorableText(user)) return { items: [], positions: [] };
    const rows = await (user === null
      ? this.#database.query(ALL, [before, limit + 1])
      : this.#database.query(OF_USER, [user, before, limit + 1]));
    const page = rows.slice(0, limit);
    const positions = page.map(([number]) => String(number));
    return {
      items: page.map(submissionOf),
      positions,
      ...(rows.length > limit ? { next: positions.at(-1)! } : {}),
    };
  }

  async unfinished(): Promise<Submission[]> {
    return (await this.#database.query(UNFINISHED)).map(submissionOf);
  }
}
