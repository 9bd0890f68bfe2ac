import { Field, Form, Notice } from "../components.js";
import { SignUpDocument } from "../documents.js";
import type { Page, PageRequest, Redirect, Route } from "../page.js";
import { NO_PROBLEM, type Problem, problemOf } from "../problems.js";

/** Where a form leads after it: a path of this registry, never another site. */
export function ownPath(to: string | null): string {
  return to !== null && /^\/(?![/\\])[^\s\\]*$/.test(to) && to.length <= 2000 ? to : "/my";
}

/** What a new password must be, said before it is typed. */
export const passwordRule = ({ passwordLength }: Pick<PageRequest, "passwordLength">) => ({
  minLength: passwordLength,
  help:
    `At least ${passwordLength} characters. A few unrelated words are easy to remember and hard ` +
    "to guess.",
});

function SignInForm({ request, problem }: { request: PageRequest; problem: Problem }) {
  const { query, form, csrf } = request;
  const to = form.get("to") ?? query.get("to") ?? "/my";
  return (
    <>
      <h1>Sign in</h1>
      {problem.form !== undefined && <Notice tone="danger">{problem.form}</Notice>}
      <Form csrf={csrf} action="/signin">
        <input type="hidden" name="to" value={to} />
        <Field
          label="E-mail address"
          name="username"
          value={form.get("username") ?? ""}
          required
          autocomplete="username"
          error={problem.fields["username"]}
        />
        <Field
          label="Password"
          name="password"
          type="password"
          required
          autocomplete="current-password"
          error={problem.fields["password"]}
        />
        <p class="actions">
          <button>Sign in</button>
          <a href={`/signup?to=${encodeURIComponent(to)}`}>Create an account</a>
        </p>
      </Form>
      <p class="quiet">
        Forgot your password? An administrator of this registry can give you a link to set a new
        one.
      </p>
    </>
  );
}

const signInPage = (request: PageRequest, problem = NO_PROBLEM): Page => ({
  status: problem === NO_PROBLEM ? 200 : 401,
  title: "Sign in",
  section: "my",
  body: <SignInForm request={request} problem={problem} />,
});

async function signIn(request: PageRequest): Promise<Page | Redirect> {
  const { form } = request;
  try {
    await request.signIn({
      username: form.get("username") ?? "",
      password: form.get("password") ?? "",
    });
  } catch (error) {
    return signInPage(request, problemOf(error));
  }
  return { redirect: ownPath(form.get("to")) };
}

function SignUpForm({ request, problem }: { request: PageRequest; problem: Problem }) {
  const { query, form, csrf } = request;
  const to = form.get("to") ?? query.get("to") ?? "/my";
  const { fields } = problem;
  // The start of a new registry prints the address with it.
  const adminToken = form.get("adminToken") ?? query.get("admin") ?? "";
  return (
    <>
      <h1>Create an account</h1>
      <p>
        With an account you upload crates, publish results and work in groups. Reading needs none.
      </p>
      {problem.form !== undefined && <Notice tone="danger">{problem.form}</Notice>}
      <Form csrf={csrf} action="/signup" data-keep="signup">
        <input type="hidden" name="to" value={to} />
        <Field
          label="Name"
          name="name"
          value={form.get("name") ?? ""}
          required
          autocomplete="name"
          help="As it appears beside your records."
          error={fields["name"]}
        />
        <Field
          label="E-mail address"
          name="email"
          type="email"
          value={form.get("email") ?? ""}
          required
          autocomplete="email"
          help="Shown to you and to administrators only."
          error={fields["email"]}
        />
        <Field
          label="Password"
          name="password"
          type="password"
          required
          autocomplete="new-password"
          {...passwordRule(request)}
          // What is wrong is something else: nobody types a password twice for it.
          value={fields["password"] === undefined ? (form.get("password") ?? "") : ""}
          error={fields["password"]}
        />
        <details class="more" open={adminToken !== "" || undefined}>
          <summary>You started this registry?</summary>
          <Field
            label="Administrator token"
            name="adminToken"
            value={adminToken}
            help="The first start of the registry printed it once. It makes this account an administrator."
            error={fields["adminToken"]}
          />
        </details>
        <p class="actions">
          <button>Create the account</button>
          <a href={`/signin?to=${encodeURIComponent(to)}`}>Sign in instead</a>
        </p>
      </Form>
    </>
  );
}

const signUpPage = (request: PageRequest, problem = NO_PROBLEM): Page => ({
  status: problem === NO_PROBLEM ? 200 : 422,
  // It may hold the password that was typed.
  headers: { "Cache-Control": "no-store" },
  title: "Create an account",
  section: "my",
  body: <SignUpForm request={request} problem={problem} />,
});

async function signUp(request: PageRequest): Promise<Page | Redirect> {
  const { form, ask } = request;
  const [name, email, password] = ["name", "email", "password"].map(
    (field) => form.get(field) ?? "",
  );
  const adminToken = (form.get("adminToken") ?? "").trim();
  try {
    await ask(SignUpDocument, {
      user: {
        name: name!,
        email: email!,
        password: password!,
        ...(adminToken === "" ? {} : { adminToken }),
      },
    });
    await request.signIn({ username: email!, password: password! });
  } catch (error) {
    return signUpPage(request, problemOf(error));
  }
  return { redirect: ownPath(form.get("to")) };
}

async function signOut(request: PageRequest): Promise<Redirect> {
  await request.signOut();
  return { redirect: "/" };
}

export const accountRoutes: readonly Route[] = [
  { path: "/signin", get: async (request) => signInPage(request), post: signIn },
  { path: "/signup", get: async (request) => signUpPage(request), post: signUp },
  { path: "/signout", get: async () => ({ redirect: "/" }), post: signOut },
];
