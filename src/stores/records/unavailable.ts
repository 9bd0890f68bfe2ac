import { ServiceError } from "../../errors.js";

export const unavailable = (reason: string): ServiceError =>
  new ServiceError("STORE_UNAVAILABLE", `The record store cannot be used: ${reason}. Nothing was changed; try again later.`);

/** Unlike an outage it does not pass: trying again is of no use. */
export const damaged = (reason: string): ServiceError =>
  new ServiceError("STORE_DAMAGED", `The stored records that this needs are damaged: ${reason}. Nothing was changed; the operator of the registry has to restore a backup.`);

/** Stored bytes that are not what was written: their coding, JSON or compression is broken. */
export class Undecodable extends Error {}

/** @throws Undecodable when `text` is no JSON */
export function storedJson<T>(text: string, what: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new Undecodable(`${what} is not JSON`, { cause });
  }
}
