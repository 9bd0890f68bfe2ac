/**
 * What readers of a crate of a profile look for: the sections at the top of its page, and where in
 * the crate each value comes from. To show another profile, add an entry to {@link PROFILES}.
 *
 * A path leads from entity to entity by members of their documents: `mainEntity.input` are the
 * inputs of the main entity.
 *
 * | in a path | means |
 * |---|---|
 * | `hasMember` | the member, with any prefix: `pcdm:hasMember` too |
 * | `mentions[CreateAction$]` | only entities with a type that the pattern matches |
 * | `version \| softwareVersion` | the second path where the first leads to nothing |
 * | `@self` | the entity itself |
 * | `@runs` | of the crate: its activities, up to 100 |
 * | `@descriptor` | of the crate: what describes its metadata file |
 */

/** A value of a fact or a cell: a path, and how its values are written where they are not as stated. */
export type Source =
  | string
  | {
      from: string;
      /**
       * `duration`: the time from `startTime` to `endTime` of the entity. `word`: a term of a
       * vocabulary as people read it. `time`: with the minute. `first`: no further value.
       */
      as: "duration" | "word" | "time" | "first";
    };

export interface ProfileSection {
  title: string;
  /** The entities that it shows; absent: what holds the section. */
  from?: string;
  form: "facts" | "table" | "pictures" | "tree";
  /** Names and values of facts, or columns of a table. */
  values?: Readonly<Record<string, Source>>;
  /** Of facts: a text, which may be Markdown. */
  text?: string;
  /** Of facts: entities have no name of their own, as comments. */
  isUnnamed?: true;
  /** Of a tree: the way to the members of a member. */
  members?: string;
  /** Of facts: further sections about each entity. */
  parts?: readonly ProfileSection[];
}

export interface Profile {
  /** Identifies the sections on the page. */
  id: string;
  title: string;
  /** Addresses that the crate or its metadata file states in `conformsTo`. */
  conformsTo?: RegExp;
  /** Without one: paths that all lead to something. */
  when: readonly string[];
  /** Paths may begin with `@runs`. */
  needsRuns?: true;
  sections: readonly ProfileSection[];
}

const parameters = (title: string, from: string): ProfileSection => ({
  title,
  from,
  form: "table",
  values: {
    Name: "@self",
    Type: { from: "additionalType", as: "word" },
    Format: "encodingFormat | format",
    Default: "defaultValue",
    Required: "valueRequired",
    Description: "description",
  },
});

/** What a run read or wrote: files, and parameters with their values. */
const used = (title: string, from: string): ProfileSection => ({
  title,
  from,
  form: "table",
  values: {
    Parameter: { from: "exampleOfWork | name | propertyID", as: "first" },
    Value: "value | @self",
    Unit: "unitText | unitCode",
  },
});

export const PROFILES: readonly Profile[] = [
  {
    id: "review",
    title: "Five Safes review",
    conformsTo: /w3id\.org\/(?:5s-crate|trusted-wfrun-crate)\b/i,
    when: ["mentions[AssessAction$]"],
    sections: [
      {
        title: "Request",
        form: "facts",
        values: {
          Project: "sourceOrganization",
          "Requested by": "mentions[CreateAction$].agent | author | creator",
          Affiliation:
            "mentions[CreateAction$].agent.affiliation | author.affiliation | creator.affiliation",
          Workflow: "mainEntity",
          Funding: "sourceOrganization.funding | funding",
        },
      },
      {
        title: "Phases",
        from: "mentions[Action$]",
        form: "table",
        values: {
          Phase: { from: "additionalType | @type", as: "word" },
          What: "@self",
          State: { from: "actionStatus", as: "word" },
          By: "agent | instrument",
          Began: { from: "startTime", as: "time" },
          Ended: { from: "endTime", as: "time" },
        },
      },
    ],
  },
  {
    id: "run",
    title: "Run",
    conformsTo: /w3id\.org\/ro\/wfrun\//i,
    when: ["mentions[CreateAction$]"],
    needsRuns: true,
    sections: [
      {
        title: "What was run",
        from: "mentions[CreateAction$] | @runs[CreateAction$]",
        form: "facts",
        values: {
          Program: "instrument",
          Version: "instrument.softwareVersion | instrument.version",
          "Run by": "agent",
          Began: { from: "startTime", as: "time" },
          Ended: { from: "endTime", as: "time" },
          Duration: { from: "@self", as: "duration" },
          State: { from: "actionStatus", as: "word" },
          Error: "error",
        },
        text: "description",
        parts: [used("Inputs and parameters", "object"), used("Results", "result")],
      },
      {
        title: "Engine",
        from: "@runs[OrganizeAction$]",
        form: "table",
        values: {
          Engine: "instrument",
          Version: "instrument.softwareVersion | instrument.version",
          "Run by": "agent",
          Began: { from: "startTime", as: "time" },
          Duration: { from: "@self", as: "duration" },
        },
      },
      {
        title: "Steps",
        from: "@runs[ControlAction$]",
        form: "table",
        values: {
          Step: "instrument",
          Program: "object.instrument",
          Run: "object",
          Began: { from: "object.startTime", as: "time" },
          Duration: { from: "object", as: "duration" },
          State: { from: "object.actionStatus | actionStatus", as: "word" },
        },
      },
    ],
  },
  {
    id: "workflow",
    title: "Workflow",
    conformsTo: /w3id\.org\/workflowhub\/workflow-ro-crate\b/i,
    when: ["mainEntity[ComputationalWorkflow$]"],
    sections: [
      {
        title: "Diagram",
        from: "mainEntity.image | mainEntity.subjectOf[ImageObject$]",
        form: "pictures",
      },
      {
        title: "About the workflow",
        from: "mainEntity",
        form: "facts",
        values: {
          Language: "programmingLanguage",
          "Version of the language": "programmingLanguage.version",
          Version: "version | softwareVersion",
          Creators: "creator | author",
          Licence: "license",
          "Source code": "codeRepository | url | isBasedOn",
          "Also as CWL": "subjectOf[ComputationalWorkflow$]",
        },
        text: "description",
      },
      parameters("Inputs", "mainEntity.input"),
      parameters("Outputs", "mainEntity.output"),
      {
        title: "Tools",
        from: "mainEntity.hasPart[Software]",
        form: "table",
        values: {
          Tool: "@self",
          Version: "softwareVersion | version",
          Description: "description",
          "Web page": "url",
        },
      },
      {
        title: "Steps",
        from: "mainEntity.step",
        form: "table",
        values: { Step: "@self", Tool: "workExample", Description: "description" },
      },
      {
        title: "Tests",
        from: "mentions[TestSuite$] | about[TestSuite$] | mainEntity.subjectOf[TestSuite$]",
        form: "table",
        values: {
          Suite: "@self",
          Definition: "definition",
          "Test engine": "definition.engine | definition.conformsTo",
          "Runs at": "instance.runsOn | instance.url",
        },
      },
    ],
  },
  {
    id: "notebook",
    title: "Notebook entries",
    when: [
      "@descriptor.sdPublisher",
      "hasPart[Dataset$].genre | hasPart[Dataset$].text | hasPart[Dataset$].comment | " +
        "hasPart[Dataset$].variableMeasured",
    ],
    sections: [
      {
        title: "Exported from",
        form: "facts",
        values: {
          Program: "@descriptor.sdPublisher",
          Version: "@descriptor.version",
          On: "@descriptor.dateCreated | datePublished",
        },
      },
      {
        title: "Entries",
        from: "hasPart[Dataset$]",
        form: "facts",
        values: {
          By: "author | creator",
          Created: "dateCreated",
          Changed: "dateModified",
          Category: "genre | about",
          State: { from: "creativeWorkStatus | status", as: "word" },
          Keywords: "keywords",
        },
        text: "text | description.text | description",
        parts: [
          {
            title: "Fields",
            from: "variableMeasured[PropertyValue$]",
            form: "table",
            values: { Field: "name | propertyID", Value: "value", Unit: "unitText | unitCode" },
          },
          {
            title: "Steps",
            from: "step",
            form: "table",
            values: { Step: "@self", State: { from: "creativeWorkStatus", as: "word" } },
          },
          {
            title: "Comments",
            from: "comment",
            form: "facts",
            isUnnamed: true,
            values: { By: "author | creator", On: "dateCreated" },
            text: "text | description",
          },
        ],
      },
    ],
  },
  {
    id: "collection",
    title: "Collection",
    conformsTo: /purl\.archive\.org\/language-data-commons|w3id\.org\/ldac/i,
    when: ["@self[^Repository(?:Collection|Object)$]"],
    sections: [
      {
        title: "About the collection",
        form: "facts",
        values: {
          Languages:
            "subjectLanguage | inLanguage | hasMember.subjectLanguage | hasMember.inLanguage",
          Places:
            "contentLocation | spatialCoverage | locationCreated | hasMember.contentLocation | " +
            "hasMember.spatialCoverage",
          Time: "temporalCoverage | temporal | dateCreated",
          Compilers: "compiler | collector | depositor",
          Speakers: "speaker | participant | hasMember.speaker | hasMember.participant",
          Access: "conditionsOfAccess",
        },
      },
      {
        title: "Members",
        from: "hasMember | hasPart",
        form: "tree",
        members: "hasMember | hasPart",
      },
    ],
  },
];
