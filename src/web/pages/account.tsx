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
  const { query, form } = request;
  const to = form.get("to") ?? query.get("to") ?? "/my";
  return (
    <>
      <h1>Sign in</h1>
      {problem.form !== undefined && <Notice tone="danger">{problem.form}</Notice>}
      <p class="actions">
        {request.issuers.all.map(({ name, label }) => (
          <a class="button" href={`/signin/with/${name}?to=${encodeURIComponent(to)}`}>
            Sign in with {label}
          </a>
        ))}
      </p>
      {request.hasPasswords && <PasswordForm request={request} problem={problem} to={to} />}
    </>
  );
}

interface PasswordFormProps {
  request: PageRequest;
  problem: Problem;
  to: string;
}

function PasswordForm({ request: { form, csrf }, problem, to }: PasswordFormProps) {
  return (
    <>
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

/** The browser goes to the issuer. */
const startAt = async (request: PageRequest): Promise<Page | Redirect> => {
  const to = ownPath(request.query.get("to"));
  return refusedAsPage(request, () => request.issuers.begin(request.param("name"), to));
};

/** The browser is back from the issuer. */
const backFrom = (request: PageRequest): Promise<Page | Redirect> =>
  refusedAsPage(request, async () => {
    const end = await request.issuers.finish(request.param("name"));
    return "redirect" in end ? end : newAccountPage(request, end);
  });

async function refusedAsPage(
  request: PageRequest,
  step: () => Promise<Page | Redirect>,
): Promise<Page | Redirect> {
  try {
    return await step();
  } catch (error) {
    return signInPage(request, problemOf(error));
  }
}

interface NewAccount {
  pending: string;
  name: string | null;
  email: string | null;
  to: string;
}

/** Nobody gets into an account by an e-mail address that an issuer states. */
function newAccountPage(request: PageRequest, account: NewAccount, problem = NO_PROBLEM): Page {
  const { csrf, form } = request;
  const { pending, name, email, to } = account;
  return {
    status: problem === NO_PROBLEM ? 200 : 422,
    headers: { "Cache-Control": "no-store" },
    title: "Create an account",
    section: "my",
    body: (
      <>
        <h1>Create an account</h1>
        <p>
          No account here is linked with the one that you signed in with. Do you have an account
          here? Then <a href="/signin">sign in with its password</a>, and link the two at{" "}
          <em>Profile and tokens</em>.
        </p>
        {problem.form !== undefined && <Notice tone="danger">{problem.form}</Notice>}
        <Form csrf={csrf} action="/signin/new">
          <input type="hidden" name="pending" value={pending} />
          <input type="hidden" name="to" value={to} />
          <Field
            label="Name"
            name="name"
            value={name ?? ""}
            required
            autocomplete="name"
            error={problem.fields["name"]}
          />
          <Field
            label="E-mail address"
            name="email"
            type="email"
            value={email ?? ""}
            required
            autocomplete="email"
            help="Shown to you and to administrators only."
            error={problem.fields["email"]}
          />
          <details class="more">
            <summary>You started this registry?</summary>
            <Field
              label="Administrator token"
              name="adminToken"
              value={form.get("adminToken") ?? ""}
              help="The first start of the registry printed it once. It makes this account an administrator."
              error={problem.fields["adminToken"]}
            />
          </details>
          <button>Create the account</button>
        </Form>
      </>
    ),
  };
}

async function createAccount(request: PageRequest): Promise<Page | Redirect> {
  const { form } = request;
  const textOf = (name: string) => (form.get(name) ?? "").trim();
  const [pending, to] = [textOf("pending"), ownPath(form.get("to"))];
  const fields = {
    name: textOf("name"),
    email: textOf("email"),
    adminToken: textOf("adminToken"),
  };
  try {
    await request.issuers.signUp(pending, fields);
  } catch (error) {
    return newAccountPage(request, { pending, to, ...fields }, problemOf(error));
  }
  return { redirect: to };
}

/** Where a program's user enters the code that the program shows. */
function devicePage(request: PageRequest, problem = NO_PROBLEM, isDone = false): Page | Redirect {
  const { query, form, csrf, viewer, path } = request;
  const code = form.get("code") ?? query.get("code") ?? "";
  if (!viewer)
    return {
      redirect: `/signin?to=${encodeURIComponent(code === "" ? path : `${path}?code=${code}`)}`,
    };
  return {
    status: problem === NO_PROBLEM ? 200 : 422,
    title: "Let a program sign in",
    section: "my",
    body: (
      <>
        <h1>Let a program sign in</h1>
        {isDone ? (
          <Notice tone="success">The program is signed in as you. You can close this page.</Notice>
        ) : (
          <>
            <Notice tone="warning">
              The program will act as you. Go on only if you started it yourself a moment ago (
              <code>arkgraph login --web</code>) and it shows this code.
            </Notice>
            {problem.form !== undefined && <Notice tone="danger">{problem.form}</Notice>}
            <Form csrf={csrf} action="/device">
              <Field
                label="Code"
                name="code"
                value={code}
                required
                error={problem.fields["code"]}
              />
              <button>Let it sign in</button>
            </Form>
          </>
        )}
      </>
    ),
  };
}

async function approve(request: PageRequest): Promise<Page | Redirect> {
  if (!request.viewer) return devicePage(request);
  try {
    await request.issuers.approveDevice(request.form.get("code") ?? "");
  } catch (error) {
    return devicePage(request, problemOf(error));
  }
  return devicePage(request, NO_PROBLEM, true);
}

async function signOut(request: PageRequest): Promise<Redirect> {
  await request.signOut();
  return { redirect: "/" };
}

export const accountRoutes: readonly Route[] = [
  { path: "/signin", get: async (request) => signInPage(request), post: signIn },
  { path: "/signin/with/:name", get: startAt },
  { path: "/signin/with/:name/done", get: backFrom },
  { path: "/signin/new", get: async () => ({ redirect: "/signin" }), post: createAccount },
  { path: "/device", get: async (request) => devicePage(request), post: approve },
  { path: "/signup", get: async (request) => signUpPage(request), post: signUp },
  { path: "/signout", get: async () => ({ redirect: "/" }), post: signOut },
];
