import type { ComponentChildren } from "preact";
import { ServiceError } from "../../errors.js";
import {
  Csrf,
  Empty,
  Field,
  Identifier,
  Notice,
  Pager,
  RecordCard,
  RecordLink,
  When,
} from "../components.js";
import {
  AddGroupMemberDocument,
  CancelUploadDocument,
  ChangePasswordDocument,
  CreateAccessTokenDocument,
  CreateGroupDocument,
  MyGroupsDocument,
  MyUploadsDocument,
  MyWorkDocument,
  ProfileDocument,
  RemoveGroupMemberDocument,
  RetryUploadDocument,
  RevokeAccessTokenDocument,
  type SubmissionRowFragment,
  UpdateProfileDocument,
} from "../documents.js";
import { counted, countText, sizeText } from "../format.js";
import { type Page, type PageRequest, recordPath, type Redirect, type Route } from "../page.js";
import { problemOf } from "./account.js";
import { signInFirst } from "./upload.js";

const TABS = [
  ["/my", "Overview"],
  ["/my/records", "Records"],
  ["/my/uploads", "Uploads"],
  ["/my/references", "References"],
  ["/my/groups", "Groups and projects"],
  ["/my/profile", "Profile and tokens"],
] as const;

function Tabs({ current }: { current: string }) {
  return (
    <nav aria-label="My work">
      <ul class="tabs">
        {TABS.map(([href, text]) => (
          <li>
            <a href={href} aria-current={href === current ? "page" : undefined}>
              {text}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** A page of the signed-in user; others sign in first and come back. */
export function own(show: (request: PageRequest) => Promise<Page | Redirect>) {
  return async (request: PageRequest): Promise<Page | Redirect> =>
    signInFirst(request) ?? show(request);
}

/** A page below the tabs of one's own work. */
export const pageOf = (
  title: string,
  tab: string,
  body: ComponentChildren,
  status = 200,
): Page => ({
  status,
  title,
  section: "my",
  body: (
    <>
      <h1>{title}</h1>
      <Tabs current={tab} />
      {body}
    </>
  ),
});

export const STATUSES: Readonly<Record<string, string>> = {
  DRAFT: "drafts",
  PUBLISHED: "public",
  EMBARGOED: "embargoed",
  ARCHIVED: "archived",
};

async function overview({ ask, viewer }: PageRequest): Promise<Page> {
  const { submissions, statuses, crates, me } = await ask(MyWorkDocument, { me: viewer!.id });
  const groups = [...(me?.organizations.nodes ?? []), ...(me?.projects.nodes ?? [])];
  return pageOf(
    "My work",
    "/my",
    <>
      <section>
        <ul class="numbers">
          {statuses.groups.map(
            ({ status, count, bytes }) =>
              status && (
                <li>
                  <a href={`/my/records?status=${status}`}>
                    <strong>{countText(count)}</strong> {STATUSES[status]}
                  </a>
                  {bytes > 0 && <span class="quiet"> ({sizeText(bytes)})</span>}
                </li>
              ),
          )}
        </ul>
        <p class="actions">
          <a class="button" href="/upload">
            Upload
          </a>
          <a class="button secondary" href="/new">
            New record
          </a>
          <a class="button secondary" href="/reserve">
            Reserve an identifier
          </a>
        </p>
      </section>
      <section>
        <h2>My crates</h2>
        {crates.nodes.length === 0 ? (
          <Empty title="You have no crate yet.">
            <p>
              <a href="/upload">Upload a folder or an archive</a>; you see what will happen before
              anything is stored.
            </p>
          </Empty>
        ) : (
          <div class="cards">
            {crates.nodes.map((record) => (
              <RecordCard record={record} />
            ))}
          </div>
        )}
        {crates.totalCount > crates.nodes.length && (
          <p>
            <a href={`/search?owner=${encodeURIComponent(viewer!.id)}&kind=ROCRATE`}>
              All {countText(crates.totalCount)} crates
            </a>
          </p>
        )}
      </section>
      {submissions.nodes.length > 0 && (
        <section>
          <h2>Newest uploads</h2>
          <Submissions rows={submissions.nodes} />
        </section>
      )}
      {groups.length > 0 && (
        <section>
          <h2>My groups and projects</h2>
          <ul>
            {groups.map((group) => (
              <li>
                <RecordLink record={group} glyph />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>,
  );
}

/** What a submission does, and where its result is. */
function subjectOf(row: SubmissionRowFragment): { text: string; href: string | null } {
  const jobs: readonly (readonly [string | null, string])[] = [
    [row.computationIdentifier, "Run of a computation"],
    [row.evidenceGraphIdentifier, "Evidence graph"],
    [row.scoredCrateIdentifier, "AI-readiness score"],
    [row.doiRecordIdentifier, "Registration of a DOI"],
  ];
  for (const [id, text] of jobs) if (id !== null) return { text, href: recordPath(id) };
  if (row.embeddingsModel !== null) return { text: "Vectors for search", href: null };
  return { text: "Upload of a crate", href: `/upload/${row.submissionUUID}` };
}

/** What a form sends about a submission. */
interface SubmissionActions {
  csrf: string | null;
  /** What is to be done where an archive is not stored any more. */
  otherwise: ComponentChildren;
}

/** @param actions a form cancels one that has not ended, and retries one that failed; absent: none */
export function Submissions({
  rows,
  actions,
}: {
  rows: readonly SubmissionRowFragment[];
  actions?: SubmissionActions | undefined;
}) {
  const acting = rows.some((row) => !row.success) ? actions : undefined;
  return (
    <div class="scroll">
      <table class="stack entries submissions">
        <thead>
          <tr>
            <th scope="col">Began</th>
            <th scope="col">What</th>
            <th scope="col">State</th>
            <th scope="col">Result</th>
            {acting && <th scope="col">Action</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const { text, href } = subjectOf(row);
            return (
              <tr>
                <td data-label="Began">
                  <When at={row.timeStarted} minute />
                </td>
                <td data-label="What">{href === null ? text : <a href={href}>{text}</a>}</td>
                <td data-label="State">
                  {row.success ? "arrived" : row.completed ? "failed" : (row.stage ?? "waiting")}
                </td>
                <td data-label="Result">
                  {row.success && row.record && <RecordLink record={row.record} glyph />}
                  {row.error?.[0] && <bdi>{row.error[0].message}</bdi>}
                  {(row.error?.length ?? 0) > 1 &&
                    ` and ${counted(row.error!.length - 1, "more message")}`}
                  {row.success && row.warnings.length > 0 && (
                    <span class="quiet">
                      {" "}
                      {counted(row.warnings.length, "piece of advice", "pieces of advice")}
                    </span>
                  )}
                </td>
                {acting && (
                  <td>
                    <SubmissionAction row={row} actions={acting} />
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function SubmissionAction({
  row,
  actions: { csrf, otherwise },
}: {
  row: SubmissionRowFragment;
  actions: SubmissionActions;
}) {
  const isUpload = subjectOf(row).href?.startsWith("/upload/") === true;
  if (row.completed && !row.retryable)
    return !row.success && isUpload ? (
      <span class="quiet">The archive is not stored any more: {otherwise}</span>
    ) : null;
  return (
    <form method="post">
      <Csrf token={csrf} />
      <input type="hidden" name="submission" value={row.submissionUUID} />
      {row.completed ? (
        <button class="secondary" name="action" value="retry">
          Retry
        </button>
      ) : (
        <button class="danger" name="action" value="cancel">
          Cancel
        </button>
      )}
    </form>
  );
}

/** Does what a form of {@link Submissions} asks. @returns what to say; null for another form */
export async function actOnSubmission({ ask, form }: PageRequest): Promise<string | null> {
  const id = form.get("submission") ?? "";
  switch (form.get("action")) {
    case "cancel":
      await ask(CancelUploadDocument, { id });
      return "The submission is cancelled.";
    case "retry":
      await ask(RetryUploadDocument, { id });
      return "The archive is on its way again, as a new submission.";
    default:
      return null;
  }
}

async function changeUploads(request: PageRequest): Promise<Page> {
  try {
    const done = await actOnSubmission(request);
    if (done === null) throw new ServiceError("BAD_REQUEST", "The form names no action.");
    return await uploads(request, { done });
  } catch (error) {
    const { form: sentence, fields } = problemOf(error);
    return uploads(request, {
      problem: [sentence, ...Object.values(fields)].filter(Boolean).join(" "),
    });
  }
}

interface Said {
  done?: string;
  problem?: string;
}

async function uploads({ ask, query, csrf }: PageRequest, said: Said = {}): Promise<Page> {
  const { submissions } = await ask(MyUploadsDocument, { after: query.get("after") });
  return pageOf(
    "My uploads",
    "/my/uploads",
    <section>
      {said.done !== undefined && <Notice tone="success">{said.done}</Notice>}
      {said.problem !== undefined && <Notice tone="danger">{said.problem}</Notice>}
      {submissions.nodes.length === 0 ? (
        <Empty title="You have uploaded nothing yet.">
          <p>
            <a href="/upload">Upload a folder or an archive.</a>
          </p>
        </Empty>
      ) : (
        <Submissions
          rows={submissions.nodes}
          actions={{ csrf, otherwise: <a href="/upload">send it again.</a> }}
        />
      )}
      <Pager path="/my/uploads" query={query} pageInfo={submissions.pageInfo} />
    </section>,
    said.problem === undefined ? 200 : 422,
  );
}

interface ProfileState {
  /** The secret of a token that was just created: shown once. */
  secret?: { name: string; secret: string };
  done?: string;
  /** Which form has a problem, and its fields. */
  problem?: {
    of: "profile" | "password" | "token";
    form?: string;
    fields: Readonly<Record<string, string>>;
  };
}

async function profile(request: PageRequest, state: ProfileState = {}): Promise<Page> {
  const { ask, csrf, form } = request;
  const { me, accessTokens } = await ask(ProfileDocument, {});
  const email = (me?.document as { email?: string } | null)?.email ?? "";
  const problem = (of: string) => (state.problem?.of === of ? state.problem : undefined);
  const sentence = (of: string) => problem(of)?.form;
  return pageOf(
    "Profile and tokens",
    "/my/profile",
    <>
      {state.done !== undefined && <Notice tone="success">{state.done}</Notice>}
      {state.secret && (
        <Notice tone="success">
          <p>The token “{state.secret.name}” was created. Copy it now: it is not shown again.</p>
          <p>
            <Identifier id={state.secret.secret} />
          </p>
        </Notice>
      )}
      <section>
        <h2>Profile</h2>
        <p>
          Your page: <RecordLink record={{ id: me!.id, name: me!.name }} />
        </p>
        {sentence("profile") !== undefined && <Notice tone="danger">{sentence("profile")}</Notice>}
        <form method="post">
          <Csrf token={csrf} />
          <Field
            label="Name"
            name="name"
            value={form.get("name") ?? me!.name ?? ""}
            required
            autocomplete="name"
            error={problem("profile")?.fields["name"]}
          />
          <Field
            label="E-mail address"
            name="email"
            type="email"
            value={form.get("email") ?? email}
            required
            autocomplete="email"
            error={problem("profile")?.fields["email"]}
          />
          <button name="action" value="profile">
            Save
          </button>
        </form>
      </section>
      <section>
        <h2>Password</h2>
        {sentence("password") !== undefined && (
          <Notice tone="danger">{sentence("password")}</Notice>
        )}
        <form method="post">
          <Csrf token={csrf} />
          <Field
            label="Current password"
            name="current"
            type="password"
            required
            autocomplete="current-password"
            error={problem("password")?.fields["currentPassword"]}
          />
          <Field
            label="New password"
            name="password"
            type="password"
            required
            autocomplete="new-password"
            help="Other sessions and tokens end."
            error={
              problem("password")?.fields["newPassword"] ?? problem("password")?.fields["password"]
            }
          />
          <button name="action" value="password">
            Change the password
          </button>
        </form>
      </section>
      <section>
        <h2>Tokens for programs</h2>
        <p>
          A program sends a token as <code>Authorization: Bearer …</code> and then acts as you.
        </p>
        {sentence("token") !== undefined && <Notice tone="danger">{sentence("token")}</Notice>}
        {accessTokens.length > 0 && (
          <div class="scroll">
            <table class="stack entries">
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">Created</th>
                  <th scope="col">Last used</th>
                  <th scope="col">Ends</th>
                  <th scope="col">Action</th>
                </tr>
              </thead>
              <tbody>
                {accessTokens.map((token) => (
                  <tr>
                    <td class="entry">
                      <bdi>{token.name}</bdi>
                    </td>
                    <td data-label="Created">
                      <When at={token.createdAt} />
                    </td>
                    <td data-label="Last used">
                      {token.usedAt ? <When at={token.usedAt} minute /> : "never"}
                    </td>
                    <td data-label="Ends">
                      {token.expiresAt ? <When at={token.expiresAt} /> : "never"}
                    </td>
                    <td>
                      <form method="post">
                        <Csrf token={csrf} />
                        <input type="hidden" name="id" value={token.id} />
                        <button class="danger" name="action" value="revoke">
                          Revoke
                        </button>
                      </form>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        <form method="post">
          <Csrf token={csrf} />
          <Field
            label="Name of a new token"
            name="token"
            value={form.get("token") ?? ""}
            required
            help="What it is for, for example “laptop” or “pipeline”."
            error={problem("token")?.fields["name"]}
          />
          <Field
            label="Ends on"
            name="expires"
            type="date"
            value={form.get("expires") ?? ""}
            error={problem("token")?.fields["expiresAt"]}
          />
          <button name="action" value="token">
            Create the token
          </button>
        </form>
      </section>
    </>,
    state.problem ? 422 : 200,
  );
}

async function changeProfile(request: PageRequest): Promise<Page | Redirect> {
  const { ask, form, viewer } = request;
  const action = form.get("action");
  const of = action === "profile" || action === "password" ? action : "token";
  try {
    if (action === "profile") {
      await ask(UpdateProfileDocument, {
        input: {
          id: viewer!.id,
          patch: { name: form.get("name") ?? "", email: form.get("email") ?? "" },
        },
      });
      return await profile(request, { done: "Your profile was saved." });
    }
    if (action === "password") {
      const [currentPassword, newPassword] = [
        form.get("current") ?? "",
        form.get("password") ?? "",
      ];
      await ask(ChangePasswordDocument, { currentPassword, newPassword });
      // The change ends every session: this browser gets a new one.
      await request.signIn({ username: viewer!.id, password: newPassword });
      return { redirect: "/my/profile?done=password" };
    }
    if (action === "revoke") {
      await ask(RevokeAccessTokenDocument, { id: form.get("id") ?? "" });
      return await profile(request, { done: "The token was revoked." });
    }
    const { createAccessToken } = await ask(CreateAccessTokenDocument, {
      name: form.get("token") ?? "",
      expiresAt: form.get("expires") || null,
    });
    const { secret, token } = createAccessToken;
    form.delete("token");
    return await profile(request, { secret: { name: token.name, secret } });
  } catch (error) {
    return profile(request, { problem: { of, ...problemOf(error) } });
  }
}

async function groupsPage(
  request: PageRequest,
  problem: { form?: string; fields: Readonly<Record<string, string>> } = { fields: {} },
): Promise<Page> {
  const { ask, csrf, form, viewer } = request;
  const { me } = await ask(MyGroupsDocument, {});
  const nodes = me?.organizations.nodes ?? [];
  return pageOf(
    "Groups and projects",
    "/my/groups",
    <>
      {problem.form !== undefined && <Notice tone="danger">{problem.form}</Notice>}
      <section>
        <h2>Groups</h2>
        <p>Members of a group may change what the group owns, and read its drafts.</p>
        {nodes.map((node) =>
          "members" in node ? (
            <article class="panel">
              <h3>
                <RecordLink record={{ ...node, kind: "GROUP" }} glyph />
              </h3>
              <ul>
                {node.members.nodes.map((member) => (
                  <li>
                    <RecordLink record={member} />{" "}
                    {node.owner?.id === viewer!.id && (
                      <form method="post" class="inline">
                        <Csrf token={csrf} />
                        <input type="hidden" name="group" value={node.id} />
                        <input type="hidden" name="user" value={member.id} />
                        <button class="link" name="action" value="remove">
                          remove
                        </button>
                      </form>
                    )}
                  </li>
                ))}
              </ul>
              <form method="post" class="row">
                <Csrf token={csrf} />
                <input type="hidden" name="group" value={node.id} />
                <label for={`add-${node.id}`}>New member</label>
                <input id={`add-${node.id}`} name="user" placeholder="ark:… of the user" required />
                <button class="secondary" name="action" value="add">
                  Add
                </button>
              </form>
              <p>
                <a href={`/my/records?group=${encodeURIComponent(node.id)}`}>
                  Records of the group
                </a>
              </p>
            </article>
          ) : null,
        )}
        <form method="post" data-keep="group">
          <h3>New group</h3>
          <Csrf token={csrf} />
          <Field
            label="Name"
            name="name"
            value={form.get("name") ?? ""}
            required
            error={problem.fields["name"]}
          />
          <Field
            label="Description"
            name="description"
            value={form.get("description") ?? ""}
            required
            error={problem.fields["description"]}
          />
          <button name="action" value="create">
            Create the group
          </button>
        </form>
      </section>
      <section>
        <h2>Projects</h2>
        {(me?.projects.nodes ?? []).length === 0 ? (
          <p>
            You are in no project. <a href="/new/project">Create one.</a>
          </p>
        ) : (
          <ul>
            {me!.projects.nodes.map((node) => (
              <li>
                <RecordLink record={{ ...node, kind: "PROJECT" }} glyph />
              </li>
            ))}
          </ul>
        )}
      </section>
    </>,
    problem.form !== undefined || Object.keys(problem.fields).length > 0 ? 422 : 200,
  );
}

async function changeGroups(request: PageRequest): Promise<Page | Redirect> {
  const { ask, form, viewer } = request;
  const [group, user] = [form.get("group") ?? "", (form.get("user") ?? "").trim()];
  try {
    if (form.get("action") === "add") await ask(AddGroupMemberDocument, { group, user });
    else if (form.get("action") === "remove") await ask(RemoveGroupMemberDocument, { group, user });
    else
      await ask(CreateGroupDocument, {
        input: {
          name: form.get("name") ?? "",
          description: form.get("description") ?? "",
          owner: viewer!.id,
          members: [viewer!.id],
        },
      });
  } catch (error) {
    return groupsPage(request, problemOf(error));
  }
  return { redirect: "/my/groups" };
}

export const myRoutes: readonly Route[] = [
  { path: "/my", get: own(overview) },
  { path: "/my/uploads", get: own((request) => uploads(request)), post: own(changeUploads) },
  {
    path: "/my/profile",
    get: own((request) =>
      profile(
        request,
        request.query.get("done") === "password" ? { done: "The password was changed." } : {},
      ),
    ),
    post: own(changeProfile),
  },
  { path: "/my/groups", get: own((request) => groupsPage(request)), post: own(changeGroups) },
];
