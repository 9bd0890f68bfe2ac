import { ServiceError } from "../../errors.js";

export const unavailable = (reason: string): ServiceError =>
  new ServiceError("STORE_UNAVAILABLE", `The record store cannot be used: ${reason}. Nothing was changed; try again later.`);
