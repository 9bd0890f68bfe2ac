import { ServiceError } from "../../../errors.js";

/** A place in the change log: behind the change of this record in the commit of this number. */
export interface Place { sequence: number; record: number }

const PLACE = /^(\d{1,15})\/(\d{1,15})$/;

export const writePlace = ({ sequence, record }: Place): string => (sequence === 0 && record === 0 ? "" : `${sequence}/${record}`);

/** @throws ServiceError `BAD_REQUEST` for text that {@link writePlace} does not write */
export function readPlace(text: string): Place {
  if (text === "") return { sequence: 0, record: 0 };
  const [, sequence, record] = PLACE.exec(text) ?? [];
  if (sequence === undefined) throw new ServiceError("BAD_REQUEST", "The place in the change log is not one that the store gave; begin again at the one that the vectors reach.");
  return { sequence: Number(sequence), record: Number(record) };
}

/** Both ends of a step. @throws ServiceError `BAD_REQUEST` also where it does not lead on */
export function readStep(step: { after: string; to: string }): { after: Place; to: Place } {
  const [after, to] = [readPlace(step.after), readPlace(step.to)];
  if (to.sequence < after.sequence || (to.sequence === after.sequence && to.record <= after.record)) {
    throw new ServiceError("BAD_REQUEST", "Places in the change log only rise: a step of vectors must lead behind where it begins.");
  }
  return { after, to };
}
