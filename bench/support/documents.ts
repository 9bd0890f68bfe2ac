import { arkKey } from "../../src/identifiers/ark.js";
import type { JsonObject } from "../../src/model/field.js";
import { withDefaults } from "../../src/model/json-schema.js";
import type { KindName } from "../../src/model/kind.js";
import { KINDS } from "../../src/model/kinds.js";
import { stateOf } from "../../src/services/records/state.js";
import type { RecordWrite } from "../../src/storage/records/port.js";
import { documentsHere } from "../../test/support/documents-here.js";

/**
 * Records come in groups of ten: a computation, the software it ran, a dataset it read, and seven
 * it wrote.
 */
const GROUP = 10;
const DESCRIPTION =
  "Fields of view of cultured cells, recorded with a spinning disk microscope at 37 " +
  "degrees, one stack for every position and time, with the calibration of the stage and " +
  "the settings of every channel beside it. ";

export type Role = "computation" | "software" | "read" | "written";
export const roleOf = (index: number): Role =>
  (["computation", "software", "read"] as const)[index % GROUP] ?? "written";
const KIND_OF: Readonly<Record<Role, KindName>> = {
  computation: "computation",
  software: "software",
  read: "dataset",
  written: "dataset",
};

const number = (index: number): string => String(index).padStart(8, "0");
export const arkOf = (index: number): string =>
  `ark:99999/${KIND_OF[roleOf(index)]}-b${number(index)}`;
export const ownerOf = (thousand: number): string => `ark:99999/user-b${number(thousand)}`;

/** Paths of random records of one role, among the first records of a filled store. */
export const randomPaths = (count: number, records: number, role: Role = "written"): string[] =>
  Array.from({ length: count }, () => {
    let index: number;
    do index = Math.floor(Math.random() * records);
    while (roleOf(index) !== role);
    return `/${arkOf(index)}`;
  });

/** A dataset as a client would send it, about 1 KB. */
export const datasetBody = (owner: string, name = "Light microscopy images"): JsonObject => ({
  "@type": "evi:Dataset",
  name,
  description: DESCRIPTION.repeat(2),
  keywords: ["microscopy", "cells", "time series"],
  owner,
  author: "Ada Example",
  dateCreated: "2024-05-01",
  sourceOrganization: "ark:99999/organization-lab",
  version: "1.0",
  generatedBy: "ark:99999/computation-count",
});

/** The content of one record of each role, with eight-letter words where its numbers go. */
const SELF = "SELFSELF";
const OWNER = "OWNEROWN";
const RUN = "RUNRUNRU";
const TOOL = "TOOLTOOL";
const INPUT = "INPUTINP";
const at = (kind: string, word: string): string => `ark:99999/${kind}-b${word}`;

const BODIES: Readonly<Record<Role, JsonObject>> = {
  computation: {
    "@type": "evi:Computation",
    name: `Counting run ${SELF}`,
    description: DESCRIPTION,
    owner: at("user", OWNER),
    author: "Ada Example",
    dateCreated: "2024-05-02T09:00:00Z",
    dateFinished: "2024-05-02T09:42:00Z",
    sourceOrganization: "ark:99999/organization-lab",
    sourceProject: "ark:99999/project-atlas",
    container: "docker.io/library/python:3.12",
    command: ["python", "segment.py", "images.tar"],
    usedSoftware: at("software", TOOL),
    usedDataset: at("dataset", INPUT),
    containerId: null,
    generated: [],
  },
  software: {
    metadataType: "evi:Software",
    name: `segment ${SELF}`,
    description: DESCRIPTION,
    keywords: ["segmentation"],
    owner: at("user", OWNER),
    sourceOrganization: "ark:99999/organization-lab",
  },
  read: datasetBody(at("user", OWNER), `Light microscopy images ${SELF}`),
  written: {
    ...datasetBody(at("user", OWNER), `Cell counts ${SELF}`),
    generatedBy: at("computation", RUN),
  },
};

type Created = Extract<RecordWrite, { op: "create" }>;

/**
 * Makes records by the number from one template for each role, expanded once: quads and links as
 * the service makes them.
 */
export async function recordMaker(): Promise<(index: number) => Created> {
  const templates = {} as Record<Role, string>;
  for (const role of Object.keys(BODIES) as Role[]) {
    const kind = KINDS[KIND_OF[role]];
    const ark = at(kind.name, SELF);
    const { document, ...state } = await stateOf(
      { documents: documentsHere },
      kind,
      ark,
      withDefaults(kind, BODIES[role], ark),
    );
    templates[role] = JSON.stringify({ ...state, document: Buffer.from(document).toString() });
  }
  return (index) => {
    const first = index - (index % GROUP);
    const numbers: Record<string, string> = {
      [SELF]: number(index),
      [OWNER]: number(Math.floor(index / 1000)),
      [RUN]: number(first),
      [TOOL]: number(first + 1),
      [INPUT]: number(first + 2),
    };
    const text = templates[roleOf(index)].replace(
      /SELFSELF|OWNEROWN|RUNRUNRU|TOOLTOOL|INPUTINP/g,
      (word) => numbers[word]!,
    );
    const { document, ...state } = JSON.parse(text) as Omit<Created, "document"> & {
      document: string;
    };
    const ark = arkOf(index);
    return {
      ...state,
      op: "create",
      ark,
      key: arkKey(ark),
      document: new TextEncoder().encode(document),
    };
  };
}

/** A user without an account, who owns a thousand records. */
export async function ownerRecord(thousand: number): Promise<RecordWrite> {
  const ark = ownerOf(thousand);
  const kind = KINDS.user;
  return {
    op: "create",
    ark,
    key: arkKey(ark),
    ...(await stateOf(
      { documents: documentsHere },
      kind,
      ark,
      withDefaults(
        kind,
        { "@id": ark, name: `Bench User ${thousand}`, email: `bench-${thousand}@example.org` },
        ark,
      ),
    )),
  };
}
