/** People by what others call them. */
import { ServiceError } from "../../../errors.js";
import { PeopleCalledDocument, PersonByEmailDocument } from "../../documents.js";
import type { PageRequest } from "../../page.js";
import { shortened } from "../../words.js";

/** The identifier behind a name, as suggestions have it: people may have one name. */
export const arkIn = (text: string): string | undefined => /\bark:\S+$/.exec(text)?.[0];

/**
 * The one person with this name or this whole e-mail address.
 * @returns the identifier
 * @throws ServiceError `BAD_REQUEST` where there is none, or more than one
 */
export async function personCalled({ ask }: PageRequest, text: string): Promise<string> {
  const id = arkIn(text);
  if (id !== undefined) return id;
  const shown = `“${shortened(text, 80)}”`;
  if (/^\S+@\S+$/.test(text)) {
    const { userByEmail } = await ask(PersonByEmailDocument, { email: text });
    if (userByEmail) return userByEmail.id;
    throw new ServiceError(
      "BAD_REQUEST",
      `Nobody here has the e-mail address ${shown}: check it, or give the name.`,
    );
  }
  const { users } = await ask(PeopleCalledDocument, { name: text });
  const [person, another] = users.nodes;
  if (!person)
    throw new ServiceError("BAD_REQUEST", `Nobody here is called ${shown}: check the name.`);
  if (another)
    throw new ServiceError(
      "BAD_REQUEST",
      "Several people are called so: choose one of the suggestions, or give the e-mail address.",
    );
  return person.id;
}
