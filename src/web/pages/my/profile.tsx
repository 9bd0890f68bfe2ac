/** One's own profile, password and access tokens. */
import { EntryTable, Field, Form, Identifier, Notice, Section, When } from "../../components.js";
import { RecordLink } from "../../record-components.js";
import type { LinkedIssuer } from "../../../services/administration/sign-in.js";
import type { Page, PageRequest, Redirect, Route } from "../../page.js";
import { problemOf } from "../../problems.js";
import { passwordRule } from "../account.js";
import {
  ChangePasswordDocument,
  CreateAccessTokenDocument,
  ProfileDocument,
  type ProfileQuery,
  RevokeAccessTokenDocument,
  UpdateProfileDocument,
} from "../../documents.js";
import { own, pageOf } from "./frame.js";

type FormName = "profile" | "password" | "token" | "issuer";

interface ProfileState {
  /** The secret of a token that was just created: shown once. */
  secret?: { name: string; secret: string };
  done?: string;
  /** Which form has a problem, and its fields. */
  problem?: Problem & { of: FormName };
}
interface Problem {
  form?: string;
  fields: Readonly<Record<string, string>>;
}

/** What each form of the page is given. */
interface FormProps {
  csrf: string | null;
  /** What was sent, to fill the form in again. */
  sent: URLSearchParams;
  problem: Problem | undefined;
}

async function profile(request: PageRequest, state: ProfileState = {}): Promise<Page> {
  const { ask, csrf, form: sent } = request;
  const { me, accessTokens } = await ask(ProfileDocument, {});
  const issuers = request.issuers.all.length === 0 ? [] : await request.issuers.linked();
  const propsOf = (form: FormName): FormProps => ({
    csrf,
    sent,
    problem: state.problem?.of === form ? state.problem : undefined,
  });
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
      <ProfileSection me={me!} {...propsOf("profile")} />
      {request.hasPasswords && (
        <PasswordSection {...propsOf("password")} rule={passwordRule(request)} />
      )}
      {issuers.length > 0 && <IssuersSection issuers={issuers} {...propsOf("issuer")} />}
      <TokensSection tokens={accessTokens} {...propsOf("token")} />
    </>,
    state.problem ? 422 : 200,
  );
}

function ProblemNotice({ problem }: Pick<FormProps, "problem">) {
  return problem?.form === undefined ? null : <Notice tone="danger">{problem.form}</Notice>;
}

function ProfileSection({
  me,
  csrf,
  sent,
  problem,
}: FormProps & { me: NonNullable<ProfileQuery["me"]> }) {
  const { email = "" } = me.document as { email?: string };
  return (
    <Section title="Profile">
      <p>
        Your page: <RecordLink record={{ id: me.id, name: me.name }} />
      </p>
      <ProblemNotice problem={problem} />
      <Form csrf={csrf}>
        <Field
          label="Name"
          name="name"
          value={sent.get("name") ?? me.name ?? ""}
          required
          autocomplete="name"
          error={problem?.fields["name"]}
        />
        <Field
          label="E-mail address"
          name="email"
          type="email"
          value={sent.get("email") ?? email}
          required
          autocomplete="email"
          error={problem?.fields["email"]}
        />
        <button name="action" value="profile">
          Save
        </button>
      </Form>
    </Section>
  );
}

function PasswordSection({
  csrf,
  problem,
  rule,
}: FormProps & { rule: ReturnType<typeof passwordRule> }) {
  return (
    <Section title="Password">
      <ProblemNotice problem={problem} />
      <Form csrf={csrf}>
        <Field
          label="Current password"
          name="current"
          type="password"
          required
          autocomplete="current-password"
          error={problem?.fields["currentPassword"]}
        />
        <Field
          label="New password"
          name="password"
          type="password"
          required
          autocomplete="new-password"
          minLength={rule.minLength}
          help={`${rule.help} Other sessions and tokens end.`}
          error={problem?.fields["newPassword"] ?? problem?.fields["password"]}
        />
        <button name="action" value="password">
          Change the password
        </button>
      </Form>
    </Section>
  );
}

function IssuersSection({
  issuers,
  csrf,
  problem,
}: FormProps & { issuers: readonly LinkedIssuer[] }) {
  return (
    <Section title="Sign in with">
      <p>Link your account elsewhere, and sign in there instead of with a password.</p>
      <ProblemNotice problem={problem} />
      {issuers.map(({ name, label, subject }) => (
        <Form csrf={csrf}>
          <input type="hidden" name="issuer" value={name} />
          <p>
            {label}
            {subject !== null && (
              <>
                : linked with <code>{subject}</code>
              </>
            )}{" "}
            <button class="secondary" name="action" value={subject === null ? "link" : "unlink"}>
              {subject === null ? `Link ${label}` : "Unlink"}
            </button>
          </p>
        </Form>
      ))}
    </Section>
  );
}

type AccessTokens = ProfileQuery["accessTokens"];

const SCOPE_CHOICES = [
  ["write", "Create, change, upload and delete"],
  ["publish", "Publish, withdraw and reserve DOIs"],
  ["admin", "Act as administrator, where you are one"],
] as const;

function TokensSection({ tokens, csrf, sent, problem }: FormProps & { tokens: AccessTokens }) {
  const chosen = sent.get("action") === "token" ? sent.getAll("scope") : ["write"];
  return (
    <Section title="Tokens for programs">
      <p>
        A program sends a token as <code>Authorization: Bearer …</code> and then acts as you, within
        what the token may do.
      </p>
      <ProblemNotice problem={problem} />
      {tokens.length > 0 && <TokenTable tokens={tokens} csrf={csrf} />}
      <h3>New token</h3>
      <Form csrf={csrf}>
        <Field
          label="Name of a new token"
          name="token"
          value={sent.get("token") ?? ""}
          required
          help="What it is for, for example “laptop” or “pipeline”."
          error={problem?.fields["name"]}
        />
        <Field
          label="Ends on"
          name="expires"
          type="date"
          value={sent.get("expires") ?? ""}
          error={problem?.fields["expiresAt"]}
        />
        <fieldset>
          <legend>What it may do, besides reading</legend>
          {SCOPE_CHOICES.map(([scope, text]) => (
            <label class="choice">
              <input type="checkbox" name="scope" value={scope} checked={chosen.includes(scope)} />{" "}
              {text}
            </label>
          ))}
        </fieldset>
        <Field
          label="Only for one crate, project or group"
          name="boundTo"
          value={sent.get("boundTo") ?? ""}
          help="Its identifier. Left empty, the token counts for all that you may change."
          error={problem?.fields["boundTo"]}
        />
        <button name="action" value="token">
          Create the token
        </button>
      </Form>
    </Section>
  );
}

function TokenTable({ tokens, csrf }: { tokens: AccessTokens; csrf: string | null }) {
  return (
    <EntryTable
      rows={tokens}
      columns={[
        ["Name", ({ name }) => <bdi>{name}</bdi>],
        [
          "May",
          ({ scopes, boundTo }) => (
            <>
              {scopes.join(", ")}
              {boundTo && (
                <>
                  , only at <a href={`/${boundTo}`}>{boundTo}</a>
                </>
              )}
            </>
          ),
        ],
        ["Created", ({ createdAt }) => <When at={createdAt} />],
        ["Last used", ({ usedAt }) => (usedAt ? <When at={usedAt} minute /> : "never")],
        ["Ends", ({ expiresAt }) => (expiresAt ? <When at={expiresAt} /> : "never")],
        [
          "Action",
          ({ id }) => (
            <Form csrf={csrf}>
              <input type="hidden" name="id" value={id} />
              <button
                class="danger"
                name="action"
                value="revoke"
                data-confirm="Revoke this token? Programs that send it are refused from now on."
              >
                Revoke
              </button>
            </Form>
          ),
        ],
      ]}
    />
  );
}

/** Which form has a button for an action; other actions are of tokens. */
const FORM_OF: Readonly<Record<string, FormName>> = {
  profile: "profile",
  password: "password",
  link: "issuer",
  unlink: "issuer",
};

async function changeProfile(request: PageRequest): Promise<Page | Redirect> {
  const { ask, form, viewer } = request;
  const action = form.get("action");
  const of = FORM_OF[action ?? ""] ?? "token";
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
    if (action === "link")
      return toIssuer(await request.issuers.beginLink(form.get("issuer") ?? ""));
    if (action === "unlink") {
      await request.issuers.unlink(form.get("issuer") ?? "");
      return await profile(request, { done: "The account was unlinked." });
    }
    if (action === "revoke") {
      await ask(RevokeAccessTokenDocument, { id: form.get("id") ?? "" });
      return await profile(request, { done: "The token was revoked." });
    }
    const { createAccessToken } = await ask(CreateAccessTokenDocument, {
      input: {
        name: form.get("token") ?? "",
        expiresAt: form.get("expires") || null,
        scopes: ["read", ...form.getAll("scope")],
        boundTo: form.get("boundTo")?.trim() || null,
      },
    });
    const { secret, accessToken } = createAccessToken;
    form.delete("token");
    return await profile(request, { secret: { name: accessToken.name, secret } });
  } catch (error) {
    return profile(request, { problem: { of, ...problemOf(error) } });
  }
}

/** The policy of pages lets no form lead to another site: a link does. */
const toIssuer = ({ redirect, headers = {} }: Redirect): Page => ({
  title: "Link an account",
  section: "my",
  headers: { ...headers, "Cache-Control": "no-store" },
  body: (
    <>
      <h1>Link an account</h1>
      <p>
        Sign in there with the account that is yours: every person who uses it can then sign in as
        you.
      </p>
      <p>
        <a class="button" href={redirect} rel="noreferrer">
          Go on
        </a>
      </p>
    </>
  ),
});

const DONE: Readonly<Record<string, string>> = {
  password: "The password was changed.",
  linked: "The account was linked.",
};

export const profileRoute: Route = {
  path: "/my/profile",
  get: own((request) => {
    const done = DONE[request.query.get("done") ?? ""];
    return profile(request, done === undefined ? {} : { done });
  }),
  post: own(changeProfile),
};
