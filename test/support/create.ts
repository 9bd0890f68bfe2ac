import { expect } from "vitest";
import type { JsonObject } from "../../src/model/field.js";
import type { KindName } from "../../src/model/kind.js";
import { bodyOf } from "./bodies.js";
import type { Person, TestServer } from "./server.js";

/** Creates records over REST in the name of a person, and returns their identifiers. */
export const creator =
  (server: TestServer, person: Person) =>
  async (kind: KindName, more: JsonObject, owner = person.id): Promise<string> => {
    const { body, text } = await server.request("POST", `/${kind}`, {
      token: person.token,
      json: bodyOf(kind, owner, more),
    });
    expect(body["@id"], text).toBeTypeOf("string");
    return body["@id"] as string;
  };
