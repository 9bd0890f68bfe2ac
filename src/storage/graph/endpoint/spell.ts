/** A job for a thread: it has the service's own engine, which writes every form of a graph. */
import { spelled } from "../oxigraph/open/answer.js";
import type { NTriples } from "./open-engine.js";

export const spell = ({ ntriples, format }: NTriples): string => spelled(ntriples, format);
