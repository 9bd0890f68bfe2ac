/**
 * Sign-in at issuers of OpenID Connect. An account there is linked with an account here only with
 * proof of both: an e-mail address that an issuer states links nothing.
 */
import { randomBytes } from "node:crypto";
import jwt from "jsonwebtoken";
import {
  type Challenge,
  type Issuer,
  SignInRefused,
  type StatedPerson,
} from "../../adapters/sign-in/port.js";
import { ServiceError } from "../../errors.js";
import type { JsonObject } from "../../model/field.js";
import type { Account } from "../../storage/records/port.js";
import { identityTaken } from "../../storage/records/refusals.js";
import { record, recordRefusal } from "../access/audit.js";
import { assertSignedIn, type Caller } from "../access/rules.js";
import type { Attempts } from "../accounts/user-account.js";
import type { Deps } from "../deps.js";
import { askedArk } from "../records/find.js";
import { createRecord } from "../records/write.js";
import { addGroupMember, removeGroupMember } from "./accounts.js";

/** A sign-in at an issuer, and the form behind it, take at most so long (s). */
const PATIENCE = 600;

/** What the browser holds while it is at the issuer, signed. */
interface Transaction extends Challenge {
  readonly issuer: string;
  /** Path of a page here to go on with. */
  readonly to: string;
  /** ARK of the account that is to be linked; absent for a sign-in. */
  readonly link?: string;
}

const signed = (deps: Deps, purpose: string, content: object): string =>
  jwt.sign({ content }, deps.jwtSecret, {
    algorithm: "HS256",
    audience: `${deps.installation} ${purpose}`,
    expiresIn: PATIENCE,
  });

/** @throws ServiceError `SIGN_IN_REFUSED` */
function opened(deps: Deps, purpose: string, text: string): unknown {
  try {
    const audience = `${deps.installation} ${purpose}`;
    const verified = jwt.verify(text, deps.jwtSecret, { algorithms: ["HS256"], audience });
    return (verified as { content: unknown }).content;
  } catch {
    throw refusal("It took too long, or began in another browser");
  }
}

const refusal = (why: string): ServiceError =>
  new ServiceError("SIGN_IN_REFUSED", `${why}: begin to sign in again.`);

function issuerNamed({ issuers }: Deps, name: string): Issuer {
  const issuer = issuers.find((each) => each.name === name);
  if (issuer) return issuer;
  throw new ServiceError("NOT_FOUND", `This registry has no issuer ${name.slice(0, 40)}.`);
}

const callbackOf = (deps: Deps, { name }: Issuer): string =>
  `${deps.baseUrl()}/signin/with/${name}/done`;

async function asked<T>({ log }: Deps, issuer: Issuer, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof SignInRefused)) throw error;
    log.warn({ issuer: issuer.name, reason: error.message }, "a sign-in was refused");
    throw refusal(`${issuer.label} did not confirm the sign-in (${error.message})`);
  }
}

/**
 * Begins a sign-in, or the linking of the caller's account.
 * @returns where the browser goes, and what it has to bring back
 * @throws ServiceError `NOT_FOUND`, `SIGN_IN_REFUSED`
 */
export async function beginSignIn(
  deps: Deps,
  name: string,
  { to, link }: { to: string; link?: Caller },
): Promise<{ address: string; transaction: string }> {
  if (link) assertSignedIn(link, "link accounts");
  const issuer = issuerNamed(deps, name);
  const { address, challenge } = await asked(deps, issuer, issuer.begin(callbackOf(deps, issuer)));
  const transaction: Transaction = {
    ...challenge,
    issuer: name,
    to,
    ...(link ? { link: link.user } : {}),
  };
  return { address, transaction: signed(deps, "sign-in", transaction) };
}

/** How a sign-in ended. */
export type SignInEnd =
  | { readonly account: Account; readonly to: string }
  | { readonly linked: Issuer; readonly to: string }
  | { readonly unknown: StatedPerson; readonly pending: string; readonly to: string };

/**
 * Ends a sign-in.
 * @param query what the issuer sent with the browser
 * @param caller whose session the browser has
 * @throws ServiceError `SIGN_IN_REFUSED`, `FORBIDDEN`, `IDENTITY_TAKEN`
 */
export async function finishSignIn(deps: Deps, name: string, from: Returned): Promise<SignInEnd> {
  const issuer = issuerNamed(deps, name);
  try {
    return await finished(deps, issuer, from);
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500)
      await recordRefusal(deps, { way: "issuer", issuer: name });
    throw error;
  }
}

/** What a browser brings back from an issuer. */
interface Returned {
  query: string;
  transaction: string;
  caller: Caller | null;
}

async function finished(
  deps: Deps,
  issuer: Issuer,
  { query, transaction, caller }: Returned,
): Promise<SignInEnd> {
  const { name } = issuer;
  const { to, link, ...begun } = opened(deps, "sign-in", transaction) as Transaction;
  if (begun.issuer !== name) throw refusal("It began at another issuer");
  const { count } = await deps.shared.count(`sign-in ${begun.state}`, PATIENCE * 1000);
  if (count > 1) throw refusal("It has ended already");
  const answer = new URL(`${callbackOf(deps, issuer)}?${query}`);
  const person = await asked(deps, issuer, issuer.finish(answer, begun));
  if (link !== undefined) {
    if (caller?.user !== link) throw refusal("You were signed out meanwhile");
    assertSignedIn(caller, "link accounts");
    await linkPerson(deps, issuer, person, link);
    await followGroups(deps, issuer, person, link);
    return { linked: issuer, to };
  }
  const identity = await deps.records.identity(person.issuer, person.subject);
  if (!identity) return { unknown: person, pending: signed(deps, "new", { person, name }), to };
  const account = await deps.records.accountOf(identity.user);
  if (!account || account.deleted) throw refusal("The account was deleted");
  if (account.disabled)
    throw new ServiceError(
      "FORBIDDEN",
      "The account is disabled: ask an administrator of the registry.",
    );
  await followGroups(deps, issuer, person, account.user);
  await noteSignIn(deps, issuer, account.user);
  return { account, to };
}

async function noteSignIn(deps: Deps, { name }: Issuer, user: string): Promise<void> {
  await deps.records.noteSignIn(user, Date.now());
  await record(deps, "SIGNED_IN", { actor: user, detail: { way: "issuer", issuer: name } });
}

/** @throws ServiceError `IDENTITY_TAKEN` */
async function linkPerson(
  deps: Deps,
  of: Issuer,
  { issuer, subject }: StatedPerson,
  user: string,
): Promise<void> {
  const { records } = deps;
  if (await records.linkIdentity({ issuer, subject, user, linkedAt: Date.now() }))
    return noteLink(deps, of, user);
  const known = await records.identity(issuer, subject);
  if (known?.user !== user) throw identityTaken();
}

const noteLink = (deps: Deps, { name }: Issuer, user: string): Promise<void> =>
  record(deps, "IDENTITY_LINKED", { actor: user, subject: user, detail: { issuer: name } });

/**
 * Makes an account for a person whom an issuer has just vouched for.
 * @param pending as {@link finishSignIn} returned it
 * @throws ValidationError; ServiceError `SIGN_IN_REFUSED`, `EMAIL_TAKEN`, `IDENTITY_TAKEN`,
 * `FORBIDDEN`
 */
export async function signUpBy(
  deps: Deps,
  pending: string,
  fields: { name: string; email: string; adminToken: string },
  attempts?: Attempts,
): Promise<Account> {
  const { person, name } = opened(deps, "new", pending) as { person: StatedPerson; name: string };
  const issuer = issuerNamed(deps, name);
  if (await deps.records.identity(person.issuer, person.subject))
    throw refusal("The account exists by now");
  const document: JsonObject = {
    name: fields.name,
    email: fields.email,
    // Nobody knows it.
    password: randomBytes(32).toString("base64url"),
    ...(fields.adminToken === "" ? {} : { adminToken: fields.adminToken }),
  };
  const { record: created } = await createRecord(deps, "user", document, null, {
    invited: issuer.register,
    identity: { issuer: person.issuer, subject: person.subject, linkedAt: Date.now() },
    ...(attempts ? { attempts } : {}),
  });
  const user = created.ark;
  await noteLink(deps, issuer, user);
  await followGroups(deps, issuer, person, user);
  await noteSignIn(deps, issuer, user);
  return (await deps.records.accountOf(user))!;
}

/** Groups of the setting have exactly those members whom the issuer names, as people sign in. */
async function followGroups(
  deps: Deps,
  { groups }: Issuer,
  person: StatedPerson,
  user: string,
): Promise<void> {
  const registry: Caller = { user, admin: true };
  const stated = new Set(person.groups.map((name) => groups[name]));
  for (const ark of new Set(Object.values(groups))) {
    const change = { group: askedArk(ark), user, at: [] };
    const follow = stated.has(ark) ? addGroupMember : removeGroupMember;
    // Nobody is prevented from signing in by a group that was deleted, or that they own.
    await follow(deps, change, registry).catch((error: unknown) =>
      deps.log.warn({ err: error, group: ark }, "a group did not follow its issuer"),
    );
  }
}

/** An issuer as the page of an account shows it. */
export interface LinkedIssuer {
  readonly name: string;
  readonly label: string;
  /** The account there; null where none is linked. */
  readonly subject: string | null;
}

/** Issuers of this registry, and which of them are linked with the account. */
export async function linkedIssuers(deps: Deps, { user }: Caller): Promise<LinkedIssuer[]> {
  const identities = await deps.records.identitiesOf(user);
  return deps.issuers.map(({ name, label, issuer }) => ({
    name,
    label,
    subject: identities.find((each) => each.issuer === issuer)?.subject ?? null,
  }));
}

/** @throws ServiceError `NOT_FOUND`, `FORBIDDEN` for the last way into the account */
export async function unlinkIssuer(deps: Deps, name: string, caller: Caller): Promise<void> {
  assertSignedIn(caller, "unlink accounts");
  const { issuer } = issuerNamed(deps, name);
  const all = await deps.records.identitiesOf(caller.user);
  const others = all.filter((each) => each.issuer !== issuer);
  if (others.length === 0 && deps.config.PASSWORD_SIGN_IN === "off")
    throw new ServiceError(
      "FORBIDDEN",
      "You sign in with this issuer only: link another one before you unlink it.",
    );
  await deps.records.unlinkIdentity(caller.user, issuer);
  const { user } = caller;
  if (others.length < all.length)
    await record(deps, "IDENTITY_UNLINKED", {
      actor: user,
      subject: user,
      detail: { issuer: name },
    });
}

const ORCID = /^https:\/\/(?:sandbox\.)?orcid\.org$/;

/** The ORCID iD that the user has proved at ORCID, as an address; null without one. */
export async function orcidOf({ records }: Deps, user: string): Promise<string | null> {
  const proved = (await records.identitiesOf(user)).find(
    ({ issuer, subject }) =>
      ORCID.test(issuer.replace(/\/$/, "")) && /^(?:\d{4}-){3}\d{3}[\dX]$/.test(subject),
  );
  return proved ? `${proved.issuer.replace(/\/$/, "")}/${proved.subject}` : null;
}
