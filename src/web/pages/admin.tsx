import { ServiceError } from "../../errors.js";
import {
  Empty,
  EntryTable,
  Facts,
  Field,
  Form,
  Notice,
  PageParts,
  Pager,
  Section,
  When,
} from "../components.js";
import { RecordCard } from "../record-components.js";
import {
  type AccountRowFragment,
  AdministrationDocument,
  type AdministrationQuery,
  CreatePasswordResetDocument,
  FindAccountsDocument,
  ResetPasswordDocument,
  UpdateAccountDocument,
  StatusDocument,
} from "../documents.js";
import { counted, countText, kindText, sizeText } from "../words.js";
import type { Page, PageRequest, Redirect, Route } from "../page.js";
import { recordPath, withQuery } from "../paths.js";
import { problemOf } from "../problems.js";
import { passwordRule } from "./account.js";
import { actOnSubmission, Submissions } from "./my/submissions.js";
import { signInFirst } from "./upload.js";

interface State {
  done?: string;
  problem?: string;
  /** A reset link: shown once, never mailed. */
  reset?: { user: string; link: string; expiresAt: string };
}

async function administration(request: PageRequest, state: State = {}): Promise<Page | Redirect> {
  const { ask, viewer, query, csrf } = request;
  const first = signInFirst(request);
  if (first) return first;
  if (!viewer!.admin)
    throw new ServiceError("FORBIDDEN", "This page is for administrators of the registry.");
  const words = (query.get("q") ?? "").trim();
  const by = query.get("by");
  const found = words === "" ? [] : await accountsCalled(ask, words);
  const answer = await ask(AdministrationDocument, {
    after: query.get("after"),
    found,
    all: words === "",
    submissions: query.get("submissions"),
    by,
  });
  const { submissions, embargoed } = answer;
  const accounts = answer.accounts ?? {
    nodes: (answer.found ?? []).filter(
      (node): node is AccountRowFragment => node !== null && "email" in node,
    ),
    pageInfo: { hasNextPage: false, endCursor: null },
  };
  return {
    status: state.problem === undefined ? 200 : 422,
    title: "Administration",
    section: "admin",
    body: (
      <>
        <h1>Administration</h1>
        <PageParts
          parts={[
            ["#accounts", "Accounts"],
            ["#submissions", "Submissions"],
            ["#embargoed", "Embargoed"],
            ["/admin/audit", "Audit log"],
          ]}
        />
        {state.done !== undefined && <Notice tone="success">{state.done}</Notice>}
        {state.problem !== undefined && <Notice tone="danger">{state.problem}</Notice>}
        {state.reset && (
          <Notice tone="success">
            <p>
              Send this link to {state.reset.user}. It works once, until{" "}
              <When at={state.reset.expiresAt} minute />, and is not shown again.
            </p>
            <pre>{state.reset.link}</pre>
          </Notice>
        )}
        <Figures figures={answer.registryFigures} sizes={answer.sizes.groups} />
        <Section title="Health">
          <Health health={answer.health} />
        </Section>
        <Accounts accounts={accounts} csrf={csrf} own={viewer!.id} query={query} />
        <SubmissionsOf by={by} submissions={submissions} csrf={csrf} />
        <Section id="embargoed" title="Embargoed" count={countText(embargoed.totalCount)}>
          {embargoed.nodes.length === 0 ? (
            <Empty title="No record is under an embargo." />
          ) : (
            <ul class="results-list">
              {embargoed.nodes.map((record) => (
                <li>
                  <RecordCard record={record} />
                </li>
              ))}
            </ul>
          )}
        </Section>
      </>
    ),
  };
}

interface SubmissionsProps {
  /** The user whose submissions these are; null: everybody's. */
  by: string | null;
  submissions: AdministrationQuery["submissions"];
  csrf: string | null;
}

function SubmissionsOf({ by, submissions, csrf }: SubmissionsProps) {
  return (
    <Section id="submissions" title="Submissions">
      {by !== null && (
        <p>
          Those of {submissions.nodes[0]?.submittedBy?.name ?? by}.{" "}
          <a href="/admin#submissions">Show everybody’s</a>
        </p>
      )}
      {submissions.nodes.length === 0 ? (
        <Empty title="Nothing was submitted yet." />
      ) : (
        <Submissions
          rows={submissions.nodes}
          actions={{ csrf, otherwise: "its uploader sends it again." }}
        />
      )}
      {submissions.pageInfo.hasNextPage && (
        <p>
          <a
            href={withQuery("/admin", {
              submissions: submissions.pageInfo.endCursor ?? "",
              ...(by === null ? {} : { by }),
            })}
          >
            Earlier submissions
          </a>
        </p>
      )}
    </Section>
  );
}

function Figures({
  figures,
  sizes,
}: {
  figures: AdministrationQuery["registryFigures"];
  sizes: AdministrationQuery["sizes"]["groups"];
}) {
  const bytes = sizes.reduce((sum, group) => sum + group.bytes, 0);
  const kinds = sizes.map(
    ({ kind, count }) => `${countText(count)} ${kindText(kind, count !== 1).toLowerCase()}`,
  );
  const { waitingSince } = figures;
  return (
    <Section title="Figures">
      <Facts
        rows={[
          ["Records", countText(figures.records)],
          ["Accounts", countText(figures.accounts)],
          ["Stored files", sizeText(bytes)],
          ["Free on the disk", figures.freeBytes !== null && sizeText(figures.freeBytes)],
          ["By kind", kinds.join(", ")],
          ["Jobs", `${countText(figures.running)} running, ${countText(figures.queued)} waiting`],
          ["Oldest waiting since", waitingSince && <When at={waitingSince} minute />],
        ]}
      />
    </Section>
  );
}

/** The accounts of people with such a name, or with exactly this e-mail address. */
async function accountsCalled(ask: PageRequest["ask"], name: string): Promise<string[]> {
  const { users, userByEmail } = await ask(FindAccountsDocument, { name });
  const people = new Set(
    [...users.nodes, ...(userByEmail ? [userByEmail] : [])].map(({ id }) => id),
  );
  return [...people].map((id) => `account:${id}`);
}

interface AccountsProps {
  accounts: NonNullable<AdministrationQuery["accounts"]>;
  csrf: string | null;
  own: string;
  query: URLSearchParams;
}

function Accounts({ accounts, csrf, own, query }: AccountsProps) {
  return (
    <Section id="accounts" title="Accounts">
      <form class="row desk-find" action="/admin" role="search" aria-label="Search accounts">
        <input
          type="search"
          name="q"
          value={query.get("q") ?? ""}
          aria-label="Search accounts"
          placeholder="A name, or a whole e-mail address…"
        />
        <button class="secondary">Search</button>
      </form>
      {accounts.nodes.length === 0 && (
        <Empty title="Nobody is called so.">
          <p>
            <a href="/admin">All accounts</a>
          </p>
        </Empty>
      )}
      <EntryTable
        rows={accounts.nodes}
        columns={[
          [
            "Name",
            ({ name, user }) => (
              <a href={recordPath(user.id)}>
                <bdi>{name ?? user.id}</bdi>
              </a>
            ),
          ],
          ["E-mail", ({ email }) => <bdi>{email}</bdi>],
          ["Role", roleOf],
          ["Created", ({ createdAt }) => <When at={createdAt} />],
          [
            "Last sign-in",
            ({ signedInAt }) => (signedInAt ? <When at={signedInAt} minute /> : "never"),
          ],
          [
            "Submissions",
            ({ user }) => <a href={`${withQuery("/admin", { by: user.id })}#submissions`}>Show</a>,
          ],
          ["Actions", (account) => <AccountActions {...{ account, csrf, own }} />],
        ]}
      />
      <Pager path="/admin" query={query} pageInfo={accounts.pageInfo} />
    </Section>
  );
}

const roleOf = ({ admin, disabled }: AccountRowFragment): string =>
  `${admin ? "administrator" : "member"}${disabled ? ", disabled" : ""}`;

interface AccountProps {
  account: AccountRowFragment;
  csrf: string | null;
  own: string;
}

function AccountActions({ account, csrf, own }: AccountProps) {
  return (
    <Form csrf={csrf} class="row">
      <input type="hidden" name="user" value={account.user.id} />
      <button class="secondary" name="action" value="reset">
        Reset link
      </button>
      {account.user.id !== own && (
        <>
          <button class="secondary" name="action" value={account.disabled ? "enable" : "disable"}>
            {account.disabled ? "Enable" : "Disable"}
          </button>
          <button class="secondary" name="action" value={account.admin ? "demote" : "promote"}>
            {account.admin ? "Make member" : "Make administrator"}
          </button>
        </>
      )}
    </Form>
  );
}

const CHANGES: Readonly<Record<string, { admin?: boolean; disabled?: boolean }>> = {
  disable: { disabled: true },
  enable: { disabled: false },
  promote: { admin: true },
  demote: { admin: false },
};

async function administer(request: PageRequest): Promise<Page | Redirect> {
  const { ask, form, base } = request;
  const user = form.get("user") ?? "";
  const action = form.get("action") ?? "";
  try {
    if (action === "reset") {
      const { createPasswordReset: reset } = await ask(CreatePasswordResetDocument, { user });
      const link = `${base}/reset?${new URLSearchParams({ token: reset.token }).toString()}`;
      return await administration(request, {
        reset: { user: reset.user.id, link, expiresAt: reset.expiresAt },
      });
    }
    const done = await actOnSubmission(request);
    if (done !== null) return await administration(request, { done });
    const change = Object.hasOwn(CHANGES, action) ? CHANGES[action] : undefined;
    if (!change) throw new ServiceError("BAD_REQUEST", "The form names no action.");
    await ask(UpdateAccountDocument, { user, ...change });
    return await administration(request, { done: "The account was changed." });
  } catch (error) {
    const { form: sentence, fields } = problemOf(error);
    return administration(request, {
      problem: [sentence, ...Object.values(fields)].filter(Boolean).join(" "),
    });
  }
}

/** The page of a one-time link. */
function resetPage(request: PageRequest, problem?: string, field?: string): Page {
  const { query, form, csrf } = request;
  const token = form.get("token") ?? query.get("token") ?? "";
  return {
    status: problem === undefined && field === undefined ? 200 : 422,
    title: "Set a new password",
    // The address holds a secret.
    headers: { "Cache-Control": "no-store" },
    body: (
      <>
        <h1>Set a new password</h1>
        {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
        <Form csrf={csrf} action="/reset">
          <input type="hidden" name="token" value={token} />
          <Field
            label="New password"
            name="password"
            type="password"
            required
            autocomplete="new-password"
            {...passwordRule(request)}
            error={field}
          />
          <button>Set the password</button>
        </Form>
      </>
    ),
  };
}

async function reset(request: PageRequest): Promise<Page | Redirect> {
  const { ask, form } = request;
  const password = form.get("password") ?? "";
  try {
    const { resetPassword } = await ask(ResetPasswordDocument, {
      token: form.get("token") ?? "",
      password,
    });
    await request.signIn({ username: resetPassword.user.id, password });
  } catch (error) {
    const { form: sentence, fields } = problemOf(error);
    return resetPage(request, sentence, fields["password"]);
  }
  return { redirect: "/my" };
}

type HealthAnswer = AdministrationQuery["health"];

const PARTS: Readonly<Record<string, string>> = {
  OK: "works",
  LOADING: "is being filled",
  DAMAGED: "has damage; the rest is served",
  FAILED: "does not answer",
};

const PART_NAMES: Readonly<Record<string, string>> = {
  records: "Records",
  index: "Graph index",
  objects: "Stored files",
  jobs: "Jobs",
};

function Health({ health }: { health: HealthAnswer }) {
  return (
    <>
      <p>
        <strong>{health.ok ? "All parts work." : "Not all parts work."}</strong>
        {health.lag !== null &&
          health.lag > 0 &&
          ` The graph index is ${counted(health.lag, "commit")} behind.`}
      </p>
      {health.advice !== null && <Notice tone="warning">{health.advice}</Notice>}
      <Facts
        rows={health.checks.map(
          ({ part, state }) => [PART_NAMES[part] ?? part, PARTS[state] ?? state] as const,
        )}
      />
    </>
  );
}

async function status({ ask }: PageRequest): Promise<Page> {
  const { health } = await ask(StatusDocument, {});
  return {
    title: "Status",
    description: "Whether the parts of this registry work.",
    body: (
      <>
        <h1>Status</h1>
        <Health health={health} />
      </>
    ),
  };
}

export const adminRoutes: readonly Route[] = [
  { path: "/admin", get: (request) => administration(request), post: administer },
  { path: "/reset", get: async (request) => resetPage(request), post: reset },
  { path: "/status", get: status },
  { path: "/healthz", get: status },
  { path: "/readyz", get: status },
];
