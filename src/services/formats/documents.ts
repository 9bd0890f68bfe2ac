import type { RecordFormat } from "./format.js";

/** The record itself. */
export const jsonld: RecordFormat = {
  name: "jsonld",
  mediaType: "application/ld+json",
  label: "JSON-LD",
  description: "The record as it is stored, with the lists that other records imply.",
  relation: "describedby",
  isSignpost: true,
  tag: "",
  write: ({ view }) => view.bytes,
};

/** The same bytes. */
export const json: RecordFormat = {
  name: "json",
  mediaType: "application/json",
  label: "JSON",
  description: "The same bytes as JSON-LD, for clients that know JSON only.",
  tag: "",
  write: ({ view }) => view.bytes,
};

/** The record's page, which `src/web` makes. */
export const html: RecordFormat = {
  name: "html",
  mediaType: "text/html",
  label: "Web page",
  description: "The page of the record, for people.",
  example: "<!doctype html><title>Record</title>",
};
