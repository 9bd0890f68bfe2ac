/** One's own profile, password and access tokens. */
import { Field, Form, Identifier, Notice, Section, When } from "../../components.js";
import { RecordLink } from "../../record-components.js";
import type { Page, PageRequest, Redirect, Route } from "../../page.js";
import { problemOf } from "../account.js";
import {
  ChangePasswordDocument,
  CreateAccessTokenDocument,
  ProfileDocument,
  RevokeAccessTokenDocument,
  UpdateProfileDocument,
} from "../../documents.js";
import { own, pageOf } from "./frame.js";

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
      <Section title="Profile">
        <p>
          Your page: <RecordLink record={{ id: me!.id, name: me!.name }} />
        </p>
        {sentence("profile") !== undefined && <Notice tone="danger">{sentence("profile")}</Notice>}
        <Form csrf={csrf}>
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
        </Form>
      </Section>
      <Section title="Password">
        {sentence("password") !== undefined && (
          <Notice tone="danger">{sentence("password")}</Notice>
        )}
        <Form csrf={csrf}>
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
        </Form>
      </Section>
      <Section title="Tokens for programs">
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
                      <Form csrf={csrf}>
                        <input type="hidden" name="id" value={token.id} />
                        <button class="danger" name="action" value="revoke">
                          Revoke
                        </button>
                      </Form>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        <Form csrf={csrf}>
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
        </Form>
      </Section>
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

export const profileRoute: Route = {
  path: "/my/profile",
  get: own((request) =>
    profile(
      request,
      request.query.get("done") === "password" ? { done: "The password was changed." } : {},
    ),
  ),
  post: own(changeProfile),
};
