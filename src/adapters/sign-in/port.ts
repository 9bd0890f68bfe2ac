/** What an issuer states of a person who has just signed in there. */
export interface StatedPerson {
  /** The issuer's address, as it calls itself. */
  readonly issuer: string;
  readonly subject: string;
  readonly name: string | null;
  /** Stated by the issuer, not proved here. */
  readonly email: string | null;
  readonly groups: readonly string[];
}

/** What a browser has to bring back from the issuer, and what is compared then. */
export interface Challenge {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The issuer answered otherwise than the protocol says, or refuses; the message has no secret. */
export class SignInRefused extends Error {
  override readonly name = "SignInRefused";
}

/** Signs people in at one issuer of OpenID Connect. */
export interface Issuer {
  /** In addresses. */
  readonly name: string;
  /** For people. */
  readonly label: string;
  readonly issuer: string;
  /** People without an account here may make one. */
  readonly register: boolean;
  /** ARK of a group here by its name in the claim. */
  readonly groups: Readonly<Record<string, string>>;
  /** Where the browser goes to sign in. @throws SignInRefused */
  begin(callback: string): Promise<{ address: string; challenge: Challenge }>;
  /**
   * @param answer the whole address with which the browser came back
   * @throws SignInRefused unless the issuer vouches for the person, for this registry, now
   */
  finish(answer: URL, challenge: Challenge): Promise<StatedPerson>;
}
