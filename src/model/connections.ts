import { FALLBACK_VOCABULARY } from "./field.js";
import { KIND_NAMES, type KindName } from "./kind.js";

/** A field of the object model that leads to other records. */
export interface Connection {
  readonly description: string;
  /** Links this record states, by predicate. */
  readonly out: readonly string[];
  /** Links of other records that say the same from their side. */
  readonly in: readonly string[];
  /** Kinds of records that count on the other side; absent: any. */
  readonly inKinds?: readonly KindName[];
}

const USED = [
  "evi:used",
  "evi:usedDataset",
  "evi:usedSoftware",
  "evi:usedSample",
  "evi:usedInstrument",
  "evi:usedStain",
  "evi:usedTreatment",
  "evi:usedReagent",
  "evi:usedMLModel",
  "evi:usedService",
];
const USED_BY = [
  "evi:usedBy",
  "evi:datasetUsedBy",
  "evi:softwareUsedBy",
  "evi:sampleUsedBy",
  "evi:instrumentUsedBy",
  "evi:reagentUsedBy",
  "evi:mlModelUsedBy",
  "evi:serviceUsedBy",
];

const used = (what: string, predicate: string, inverse: string[] = []): Connection => ({
  description: `${what} that the activity used.`,
  out: [predicate],
  in: inverse,
});

/** Provenance and containment, of what may be data and activity alike. */
const PROVENANCE_CONNECTIONS = {
  generatedBy: {
    description: "Activities that generated this.",
    out: ["evi:generatedBy"],
    in: ["evi:generated"],
  },
  generated: {
    description: "What this activity generated.",
    out: ["evi:generated"],
    in: ["evi:generatedBy"],
  },
  usedDataset: used("Data", "evi:usedDataset", ["evi:datasetUsedBy"]),
  usedSoftware: used("Software", "evi:usedSoftware", ["evi:softwareUsedBy"]),
  usedSample: used("Samples", "evi:usedSample", ["evi:sampleUsedBy"]),
  usedInstrument: used("Instruments", "evi:usedInstrument", ["evi:instrumentUsedBy"]),
  usedMLModel: used("Machine-learning models", "evi:usedMLModel", ["evi:mlModelUsedBy"]),
  usedBy: { description: "Activities that used this.", out: USED_BY, in: USED },
  derivedFrom: {
    description: "What this was derived from.",
    out: ["evi:derivedFrom"],
    in: ["evi:derivedTo"],
  },
  derivedTo: {
    description: "What was derived from this.",
    out: ["evi:derivedTo"],
    in: ["evi:derivedFrom"],
  },
  associatedWith: {
    description: "Agents responsible for the activity.",
    out: ["evi:associatedWith"],
    in: [],
  },
  hasPart: { description: "Parts.", out: ["schema:hasPart"], in: ["schema:isPartOf"] },
  isPartOf: {
    description: "What this is a part of.",
    out: ["schema:isPartOf"],
    in: ["schema:hasPart"],
  },
  distribution: {
    description: "Data downloads of the content.",
    out: ["schema:distribution"],
    in: ["schema:encodesCreativeWork"],
  },
} satisfies Readonly<Record<string, Connection>>;

const connectionsNamed = (
  ...names: (keyof typeof PROVENANCE_CONNECTIONS)[]
): Readonly<Record<string, Connection>> =>
  Object.fromEntries(names.map((name) => [name, PROVENANCE_CONNECTIONS[name]]));
/** Of things, which activities use and generate. */
const THING_CONNECTIONS = connectionsNamed(
  "generatedBy",
  "usedBy",
  "derivedFrom",
  "derivedTo",
  "hasPart",
  "isPartOf",
  "distribution",
);
/** Of schemas and stored graphs, which are documents without files. */
const DOCUMENT_CONNECTIONS = connectionsNamed(
  "generatedBy",
  "usedBy",
  "derivedFrom",
  "derivedTo",
  "hasPart",
  "isPartOf",
);
const COMPUTATION_CONNECTIONS = connectionsNamed(
  "generated",
  "usedDataset",
  "usedSoftware",
  "usedSample",
  "usedInstrument",
  "usedMLModel",
  "associatedWith",
  "hasPart",
  "isPartOf",
);
const EXPERIMENT_CONNECTIONS: Readonly<Record<string, Connection>> = {
  ...COMPUTATION_CONNECTIONS,
  usedTreatment: used("Treatments", "evi:usedTreatment"),
  usedStain: used("Stains", "evi:usedStain"),
  usedReagent: used("Reagents", "evi:usedReagent", ["evi:reagentUsedBy"]),
};
/** A link by a name that crates put into different vocabularies. */
const stated = (description: string, ...names: string[]): Connection => ({
  description,
  out: names.flatMap((name) => [
    `evi:${name}`,
    `schema:${name}`,
    `https://w3id.org/fair4ml#${name}`,
    `https://w3id.org/fair4ml/${name}`,
    FALLBACK_VOCABULARY + name,
  ]),
  in: [],
});

const owned = (kind: KindName, what: string): Connection => ({
  description: `${what} stated here or owned.`,
  out: [`schema:${kind === "software" ? "software" : `${kind}s`}`],
  in: ["schema:owner"],
  inKinds: [kind],
});
const HOLDINGS: Readonly<Record<string, Connection>> = {
  datasets: owned("dataset", "Datasets"),
  roCrates: owned("rocrate", "Crates"),
  softwares: owned("software", "Software"),
  computations: owned("computation", "Computations"),
  evidenceGraphs: owned("evidencegraph", "Evidence graphs"),
};
const MEMBERS: Readonly<Record<string, Connection>> = {
  members: { description: "Members.", out: ["schema:member"], in: [] },
};

/** What belongs to a project: what it owns or states, and what names it. */
export const OF_PROJECT: Connection = {
  description: "Records of the project.",
  out: ["schema:hasPart", ...Object.values(HOLDINGS).flatMap(({ out }) => out)],
  in: ["schema:sourceProject", "schema:isPartOf", "schema:owner"],
};

/** Connections of a kind's GraphQL type, by field name. */
export function connectionsOf(kind: KindName): Readonly<Record<string, Connection>> {
  switch (kind) {
    case "user":
      return {
        ...HOLDINGS,
        organizations: {
          description: "Organizations and groups the user owns or is a member of.",
          out: ["schema:organizations"],
          in: ["schema:member", "schema:owner"],
          inKinds: ["organization", "group"],
        },
        projects: {
          description: "Projects the user owns or is a member of.",
          out: ["schema:projects"],
          in: ["schema:member", "schema:owner"],
          inKinds: ["project"],
        },
      };
    case "group":
      return MEMBERS;
    case "organization":
      return {
        ...MEMBERS,
        projects: {
          description: "Projects of the organization.",
          out: ["schema:projects"],
          in: ["schema:memberOf"],
          inKinds: ["project"],
        },
      };
    case "project":
      return { ...MEMBERS, ...HOLDINGS };
    case "dataset":
    case "software":
    case "rocrate":
    case "datadownload":
    case "instrument":
      return THING_CONNECTIONS;
    case "computation":
      return COMPUTATION_CONNECTIONS;
    case "schema":
    case "evidencegraph":
      return DOCUMENT_CONNECTIONS;
    case "mlmodel":
      return {
        ...THING_CONNECTIONS,
        trainedOn: stated("Data that the model was trained on.", "trainedOn", "trainingDataset"),
        evaluatedOn: stated("Data that the model was evaluated with.", "evaluatedOn", "testedOn"),
        fineTunedFrom: stated("Models that this one was made from.", "fineTunedFrom", "baseModel"),
      };
    case "sample":
      return {
        ...THING_CONNECTIONS,
        cellLineReference: stated("Cell line that the sample is of.", "cellLineReference"),
      };
    case "experiment":
      return EXPERIMENT_CONNECTIONS;
    case "annotation":
      return {
        ...THING_CONNECTIONS,
        ...connectionsNamed("usedDataset", "generated"),
        annotates: stated("What the annotation is about.", "annotates"),
      };
    default:
      return PROVENANCE_CONNECTIONS;
  }
}

/** The connection of that name, of records of a kind; one that other kinds have where it has none. */
export const relationOf = (kind: KindName, name: string): Connection | undefined =>
  connectionsOf(kind)[name] ?? CONNECTIONS[name];

/** A connection of every name, whichever kinds have it. */
export const CONNECTIONS: Readonly<Record<string, Connection>> = Object.fromEntries(
  KIND_NAMES.flatMap((kind) => Object.entries(connectionsOf(kind))),
);

/** A relation of some kinds, or of all where one connection of the name is enough. */
export interface Relation {
  readonly kinds?: readonly KindName[];
  readonly connection: Connection;
}

/** What filters follow, by name: each connection, and `used` for whatever an activity used. */
export const RELATIONS: Readonly<Record<string, readonly Relation[]>> = {
  used: [{ connection: { description: "What the activity used.", out: USED, in: USED_BY } }],
  ...Object.fromEntries(Object.keys(CONNECTIONS).map((name) => [name, relationsNamed(name)])),
};

function relationsNamed(name: string): Relation[] {
  const kinds = new Map<Connection, KindName[]>();
  for (const kind of KIND_NAMES) {
    const connection = connectionsOf(kind)[name];
    if (connection) kinds.set(connection, [...(kinds.get(connection) ?? []), kind]);
  }
  const found = [...kinds].map(([connection, of]) => ({ connection, kinds: of }));
  return found.length > 1 ? found : found.map(({ connection }) => ({ connection }));
}
