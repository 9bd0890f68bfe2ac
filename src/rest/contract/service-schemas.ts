import type { JsonObject } from "../../model/field.js";
import { DATE_PATTERN } from "../../model/json-schema.js";
import { STATISTICS_KEYS, type StatisticsKey } from "../../services/records/select.js";
import { EVIDENCE_SCHEMAS, nullable, SCORE_SCHEMAS } from "./evidence-schemas.js";
import { schemaRef } from "./rows.js";

const STATUS: JsonObject = {
  type: "string",
  enum: ["DRAFT", "PUBLISHED", "EMBARGOED", "ARCHIVED"],
};
/** A dataset or a job, as OpenLineage names it. */
const LINEAGE_NAME: JsonObject = {
  type: "object",
  required: ["namespace", "name"],
  properties: {
    namespace: { type: "string" },
    name: { type: "string" },
    facets: { type: "object" },
  },
};
const FINDINGS: JsonObject = { type: "array", items: schemaRef("Finding") };

const TIME: JsonObject = { type: "string", format: "date-time" };
const IDS: JsonObject = {
  type: "array",
  items: { type: "string" },
  description: "ARKs in any spelling; at most MAX_BULK_RECORDS.",
};

const stateSchema = (...statuses: string[]): JsonObject => ({
  type: "object",
  required: ["status", "checks", "lag"],
  properties: {
    status: { type: "string", enum: statuses },
    checks: {
      type: "object",
      description:
        "By part of the service: `ok`, `failed`, or `loading` for an index that is being " +
        "filled, which is healthy. `containers` is present where this node runs " +
        "computations, `embeddings` where searches use vectors; a failure of either " +
        "leaves the node healthy. `damaged`: some records are damaged, which is " +
        "unhealthy although other records are served; or some stored objects are " +
        "damaged, which leaves the node healthy.",
      required: ["records", "index", "objects", "jobs"],
      additionalProperties: { type: "string", enum: ["ok", "failed", "loading", "damaged"] },
    },
    lag: {
      type: ["integer", "null"],
      description:
        "Commits that the graph index has yet to apply; null when the record store is " +
        "unavailable.",
    },
  },
});

/**
 * Schemas of answers that are not records: tokens, health, submissions, publication, histories,
 * evidence.
 */
const KEYS: Readonly<Record<StatisticsKey, string>> = {
  kind: "Kind of the records.",
  month: "Month of creation, UTC, for example 2026-01.",
  owner: "ARK of the owner.",
  keyword: "In lower case; a record counts once for each that it has.",
  status: "Publication status.",
  format: "Media type of the stored content, in lower case.",
  licence: "SPDX identifier where the licence is known, else the licence as it is stated.",
  scoreBand: "Band of a crate's AI-readiness score in per cent: FROM_60 is 60 to 79.",
  crate: "ARK of the crate that the records came with.",
  project: "ARK of a project; a record counts once for each that it belongs to.",
};

export const SERVICE_SCHEMAS: JsonObject = {
  TokenRequest: {
    type: "object",
    required: ["username", "password"],
    properties: {
      grant_type: { type: ["string", "null"], pattern: "^password$" },
      username: { type: "string", description: "E-mail address or `@id` of the account." },
      password: { type: "string", format: "password" },
      scope: { type: "string", default: "" },
      client_id: { type: ["string", "null"] },
      client_secret: { type: ["string", "null"] },
    },
  },
  Token: {
    type: "object",
    required: ["access_token", "token_type", "expires_in"],
    properties: {
      access_token: {
        type: "string",
        description: "Sent as `Authorization: Bearer <access_token>`.",
      },
      token_type: { type: "string", const: "bearer" },
      expires_in: { type: "integer", description: "Seconds." },
    },
  },
  Session: {
    type: "object",
    required: ["user", "name", "admin", "csrf", "expiresAt"],
    properties: {
      user: nullable("string", "ARK of the user; null when nobody is signed in."),
      name: nullable("string", "Name of the user."),
      admin: { type: "boolean" },
      csrf: nullable("string", "Sent as `X-CSRF-Token` with every request that changes something."),
      expiresAt: {
        type: ["string", "null"],
        format: "date-time",
        description: "The session ends earlier when it is not used for SESSION_IDLE_TIME.",
      },
    },
  },
  AccessToken: {
    type: "object",
    required: ["id", "name", "createdAt", "usedAt", "expiresAt"],
    properties: {
      id: { type: "string", description: "Revokes the token." },
      name: { type: "string" },
      createdAt: TIME,
      usedAt: { ...TIME, type: ["string", "null"], description: "Last use, to a minute." },
      expiresAt: TIME,
    },
  },
  AccessTokenRequest: {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string", minLength: 1, maxLength: 100 },
      expiresAt: nullable("string", "Date or date-time; absent: as late as allowed."),
    },
  },
  CreatedAccessToken: {
    type: "object",
    required: ["secret", "token"],
    properties: {
      secret: { type: "string", description: "Shown once; sent as `Authorization: Bearer`." },
      token: schemaRef("AccessToken"),
    },
  },
  RevokedAccessToken: {
    type: "object",
    required: ["revoked"],
    properties: { revoked: { type: "string", description: "`id` of the token." } },
  },
  PasswordChange: {
    type: "object",
    required: ["currentPassword", "newPassword"],
    properties: { currentPassword: { type: "string" }, newPassword: { type: "string" } },
  },
  PasswordResetRequest: {
    type: "object",
    required: ["token", "password"],
    properties: {
      token: { type: "string", description: "The token that an administrator handed over." },
      password: { type: "string" },
    },
  },
  PasswordWasReset: {
    type: "object",
    required: ["user"],
    properties: { user: { type: "string", description: "ARK of the user." } },
  },
  PasswordReset: {
    type: "object",
    required: ["user", "token", "expiresAt"],
    properties: { user: { type: "string" }, token: { type: "string" }, expiresAt: TIME },
  },
  Account: {
    type: "object",
    required: ["user", "name", "email", "admin", "disabled", "createdAt", "signedInAt"],
    properties: {
      user: { type: "string", description: "ARK of the user." },
      name: nullable("string", "Name of the user."),
      email: { type: "string" },
      admin: { type: "boolean" },
      disabled: { type: "boolean" },
      createdAt: TIME,
      signedInAt: { ...TIME, type: ["string", "null"], description: "Last entry of the password." },
    },
  },
  AccountSettings: {
    type: "object",
    properties: { admin: { type: "boolean" }, disabled: { type: "boolean" } },
    additionalProperties: false,
  },
  RegistryFigures: {
    type: "object",
    required: ["accounts", "records", "queued", "running", "waitingSince"],
    properties: {
      accounts: { type: "integer" },
      records: { type: "integer" },
      queued: { type: "integer", description: "Background jobs that wait." },
      running: { type: "integer", description: "Background jobs that run." },
      waitingSince: { ...TIME, type: ["string", "null"] },
    },
  },
  BulkPublication: {
    type: "object",
    required: ["ids", "publicationStatus"],
    properties: {
      ids: IDS,
      publicationStatus: STATUS,
      embargoedUntil: nullable("string", "Date or date-time; with EMBARGOED only."),
      reason: nullable("string", "Why they are archived; with ARCHIVED only."),
      successor: nullable("string", "ARK of the record to use instead; with ARCHIVED only."),
    },
  },
  BulkTransfer: {
    type: "object",
    required: ["ids", "owner"],
    properties: { ids: IDS, owner: { type: "string", description: "ARK of the new owner." } },
  },
  BulkDeletion: {
    type: "object",
    required: ["ids"],
    properties: {
      ids: IDS,
      reason: nullable("string", "Why they are deleted: the tombstones state it."),
      successor: nullable("string", "ARK of the record to use in their place."),
    },
  },
  BulkResult: {
    type: "object",
    required: ["@id", "done", "code", "message"],
    properties: {
      "@id": { type: "string", description: "The identifier as it was sent." },
      done: { type: "boolean", description: "False where the record was left unchanged." },
      code: nullable("string", "Code of the error."),
      message: nullable("string", "What is wrong and what to do."),
    },
  },
  Health: stateSchema("healthy", "unhealthy"),
  Readiness: stateSchema("ready", "not ready"),
  Finding: {
    type: "object",
    required: ["file", "pointer", "message", "code"],
    properties: {
      file: nullable("string", "Member of the archive; null for the archive itself."),
      pointer: nullable("string", "JSON pointer (RFC 6901) inside the file."),
      line: { type: "integer", description: "Of a JSON error, from 1." },
      column: { type: "integer", description: "Of a JSON error, from 1." },
      message: { type: "string" },
      code: { type: "string" },
    },
  },
  LineageEvent: {
    type: "object",
    description:
      "An event of OpenLineage 2.0: of a run; of a dataset alone (`dataset`, no `run`); or of a " +
      "job alone (`job`, no `run`).",
    required: ["eventTime"],
    properties: {
      eventType: {
        type: "string",
        enum: ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"],
      },
      eventTime: { type: "string", format: "date-time" },
      run: {
        type: "object",
        required: ["runId"],
        properties: { runId: { type: "string", format: "uuid" }, facets: { type: "object" } },
      },
      job: LINEAGE_NAME,
      dataset: LINEAGE_NAME,
      inputs: { type: "array", items: LINEAGE_NAME },
      outputs: { type: "array", items: LINEAGE_NAME },
    },
  },
  ReservedDoi: {
    type: "object",
    required: ["@id", "doi", "submission"],
    properties: {
      "@id": { type: "string", description: "ARK of the record." },
      doi: { type: "string", description: "The DOI, which the record states as an identifier." },
      submission: schemaRef("Submission"),
    },
  },
  LineageReceipt: {
    type: "object",
    required: ["events", "records"],
    properties: {
      events: { type: "integer", description: "Events that were read." },
      records: {
        type: "array",
        description: "The records that they are about.",
        items: {
          type: "object",
          required: ["@id", "kind", "change"],
          properties: {
            "@id": { type: "string" },
            kind: { type: "string", description: "Type of the record." },
            change: {
              type: "string",
              enum: ["created", "changed", "unchanged", "linked"],
              description:
                "`linked`: you may not change the record, or it was deleted; it is named only.",
            },
          },
        },
      },
    },
  },
  Submission: {
    type: "object",
    description:
      "A background job: a crate being ingested, an evidence graph being built, a " +
      "computation being run. Every submission ends.",
    required: ["submissionUUID", "status", "completed", "success", "error", "warnings"],
    properties: {
      submissionUUID: { type: "string", format: "uuid" },
      guid: { type: "string", description: "The same as `submissionUUID`." },
      transactionFolder: { type: "string", description: "The same as `submissionUUID`." },
      status: { type: "string", enum: ["queued", "running", "finished", "failed"] },
      stage: nullable("string", "The current stage."),
      progress: nullable("object", "The progress within the stage.", {
        required: ["done", "total", "unit"],
        properties: {
          done: { type: "integer" },
          total: { type: ["integer", "null"] },
          unit: { type: "string" },
        },
      }),
      timeStarted: nullable("string", "RFC 3339, UTC.", { format: "date-time" }),
      timeFinished: nullable("string", "RFC 3339, UTC.", { format: "date-time" }),
      completed: { type: "boolean", description: "True for finished and failed." },
      success: { type: "boolean", description: "True for finished only." },
      error: { anyOf: [FINDINGS, { type: "null" }], description: "Why it failed." },
      warnings: FINDINGS,
      identifiersMinted: { type: "integer" },
      rocrateIdentifier: nullable("string", "ARK of the crate, once it is known."),
      evidenceGraphIdentifier: nullable(
        "string",
        "ARK of the evidence graph that was built; only for such a submission.",
      ),
      scoredCrateIdentifier: nullable(
        "string",
        "ARK of the crate whose AI-readiness is computed; only for such a submission.",
      ),
      computationIdentifier: nullable(
        "string",
        "ARK of the computation that is run; only for such a submission.",
      ),
      doiRecordIdentifier: nullable(
        "string",
        "ARK of the record whose DOI is registered; only for such a submission.",
      ),
      embeddingsModel: nullable(
        "string",
        "Model with which the registry computes vectors for search; only for such a submission.",
      ),
      sha256: nullable("string", "Of the archive, lower-case hex."),
    },
  },
  WholeCrate: {
    type: "object",
    description:
      "RO-Crate metadata: the descriptor first, then the crate and every entity of it. " +
      "Identifiers are those of the records; an entity that its crate knows by a URL has " +
      "that.",
    required: ["@context", "@graph"],
    properties: {
      "@context": {},
      "@graph": { type: "array", items: { ...schemaRef("Reference"), additionalProperties: true } },
    },
  },
  RecordStatistics: {
    type: "object",
    description: "Counts of records.",
    required: ["groups", "hasMore"],
    properties: {
      groups: {
        type: "array",
        items: {
          type: "object",
          description:
            "Records that agree in the keys that were asked for; null: they have no value.",
          required: ["count", "bytes"],
          properties: {
            ...Object.fromEntries(
              STATISTICS_KEYS.map((key) => [key, nullable("string", KEYS[key])]),
            ),
            count: { type: "integer", description: "Records of the group." },
            bytes: { type: "integer", description: "Bytes of their stored content." },
          },
        },
      },
      hasMore: { type: "boolean", description: "There are more groups than were asked for." },
    },
  },
  CrateFile: {
    type: "object",
    description: "A stored file of a crate.",
    required: ["path", "size", "sha256", "mediaType", "record", "address", "readable"],
    properties: {
      path: { type: "string", description: "Path in the crate." },
      size: { type: "integer", description: "Bytes." },
      sha256: { type: "string", description: "Lower-case hex." },
      mediaType: { type: "string" },
      record: nullable("string", "The record that describes it; null where no entity does."),
      address: { type: "string", description: "Where its bytes are." },
      readable: { type: "boolean", description: "True when the caller may read the bytes." },
    },
  },
  CrateSummary: {
    type: "object",
    required: ["@id", "name", "total", "counts", "members", "undescribed"],
    properties: {
      "@id": { type: "string" },
      name: nullable("string", "Of the crate."),
      total: { type: "integer", description: "Records beside the crate's own." },
      counts: {
        type: "object",
        description: "How many records there are of each kind.",
        additionalProperties: { type: "integer" },
      },
      members: {
        type: "array",
        items: {
          ...schemaRef("Reference"),
          required: ["kind", "name"],
          properties: {
            kind: { type: "string" },
            name: nullable("string", "As its metadata says."),
          },
          additionalProperties: true,
        },
      },
      undescribed: {
        type: "object",
        description: "Files that no entity describes: they have no record.",
        required: ["total", "files"],
        properties: {
          total: { type: "integer" },
          files: {
            type: "array",
            items: {
              type: "object",
              required: ["name", "contentUrl", "contentSize", "encodingFormat", "sha256"],
              properties: {
                name: { type: "string", description: "Path in the crate." },
                contentUrl: { type: "string" },
                contentSize: { type: "string", description: "Bytes." },
                encodingFormat: { type: "string" },
                sha256: { type: "string" },
              },
            },
          },
        },
      },
    },
  },
  UploadedCrate: {
    description:
      "The crate's record with its submission; the submission alone while it still runs.",
    type: "object",
    required: ["submission"],
    properties: { "@id": { type: "string" }, submission: schemaRef("Submission") },
    additionalProperties: true,
  },
  Upload: {
    type: "object",
    required: ["file"],
    properties: {
      file: {
        type: "string",
        format: "binary",
        description:
          "Zip archive. Existing clients may call the field `crate`. One in a request: a " +
          "second one is refused.",
      },
    },
  },
  FileUpload: {
    type: "object",
    required: ["file"],
    properties: {
      file: {
        type: "string",
        format: "binary",
        description: "The content. One file in a request: a second one is refused.",
      },
    },
  },
  Registration: {
    type: "object",
    required: ["download", "file"],
    properties: {
      download: {
        ...schemaRef("DataDownload"),
        description: "The record, as JSON: a text field or an `application/json` part.",
      },
      file: {
        type: "string",
        format: "binary",
        description: "The content. One file in a request: a second one is refused.",
      },
    },
  },
  PublicationRequest: {
    type: "object",
    required: ["@id", "publicationStatus"],
    properties: {
      "@id": { type: "string", description: "The record, in any spelling of its identifier." },
      publicationStatus: STATUS,
      embargoedUntil: nullable(
        "string",
        "End of an embargo: a date or date-time; without zone it is UTC. Only with EMBARGOED.",
        { pattern: DATE_PATTERN },
      ),
      reason: nullable("string", "Why it is archived; only with ARCHIVED."),
      successor: nullable("string", "ARK of the record to use instead; only with ARCHIVED."),
    },
  },
  Publication: {
    type: "object",
    required: ["@id", "publicationStatus", "embargoedUntil"],
    properties: {
      "@id": { type: "string" },
      publicationStatus: STATUS,
      embargoedUntil: nullable("string", "End of the embargo, as it was sent."),
      reason: { type: "string", description: "Why it is ARCHIVED, where that was said." },
      successor: { type: "string", description: "ARK of the record to use instead of it." },
    },
  },
  History: {
    type: "object",
    required: ["@id", "revisions"],
    properties: {
      "@id": { type: "string" },
      revisions: {
        type: "array",
        description: "Newest first.",
        items: {
          type: "object",
          required: ["revision", "at", "by", "action", "changed"],
          properties: {
            revision: { type: "integer", minimum: 1 },
            at: { type: "string", format: "date-time", description: "RFC 3339, UTC." },
            by: nullable("string", "Who did it; null for the service itself."),
            action: { type: "string", enum: ["create", "update", "delete", "publish"] },
            changed: {
              type: "array",
              items: { type: "string" },
              description: "JSON pointers (RFC 6901) of what differs from the state before.",
            },
          },
        },
      },
    },
  },
  TableUpload: {
    type: "object",
    required: ["file"],
    properties: {
      file: {
        type: "string",
        format: "binary",
        description: "The table. One in a request: a second one is refused.",
      },
    },
  },
  TableCheck: {
    type: "object",
    required: ["conforms", "errors", "truncated"],
    properties: {
      conforms: { type: "boolean" },
      errors: {
        type: "array",
        description: "Parsing errors by row, then validation errors by row.",
        items: {
          type: "object",
          required: ["row", "error_type", "failed_keyword", "message"],
          properties: {
            row: {
              type: "integer",
              minimum: 0,
              description: "Position among the data rows, from 0.",
            },
            error_type: { type: "string", enum: ["ParsingError", "ValidationError"] },
            failed_keyword: nullable(
              "string",
              "Violated JSON Schema keyword; null for a ParsingError.",
            ),
            message: { type: "string" },
          },
        },
      },
      truncated: {
        type: "boolean",
        description: "True when there are more errors than TABLE_MAX_ERRORS.",
      },
    },
  },
  SearchAnswer: {
    type: "object",
    required: ["query", "total_results", "results", "time_taken_ms"],
    properties: {
      query: { type: "string" },
      total_results: { type: "integer", description: "Records found in all." },
      total_is_estimate: {
        type: "boolean",
        description:
          "Only where `total_results` is an estimate, and then true. PostgreSQL returns one for " +
          "about 60,000 results and more.",
      },
      did_you_mean: {
        type: "string",
        description:
          "Only where similarly spelt words were searched for: the query with the likeliest ones.",
      },
      ranked_results: {
        type: "integer",
        description:
          "Only where not all were ranked: how many of them were. They were chosen among the " +
          "newest, first those with the words in name or keywords; the others follow them.",
      },
      facets: {
        type: "array",
        description: "With `facets`: counts of the results by their values, in that order.",
        items: {
          type: "object",
          required: ["by", "values", "has_more", "exact"],
          properties: {
            by: { type: "string", enum: [...STATISTICS_KEYS] },
            values: {
              type: "array",
              description: "Those of most results first.",
              items: {
                type: "object",
                required: ["value", "label", "count"],
                properties: {
                  value: { type: "string", description: "As a filter takes it." },
                  label: nullable("string", "For people: the name of an owner, a type of kinds."),
                  count: { type: "integer" },
                },
              },
            },
            has_more: { type: "boolean", description: "There are further values." },
            exact: {
              type: "boolean",
              description: "False where only the newest 50,000 results were counted.",
            },
          },
        },
      },
      results: {
        type: "array",
        items: {
          type: "object",
          required: ["@id", "@type", "name", "description", "keywords", "score", "highlight"],
          properties: {
            "@id": { type: "string" },
            "@type": { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
            name: nullable("string", "Name of the record."),
            description: nullable("string", "Its description."),
            keywords: { type: "array", items: { type: "string" } },
            score: {
              type: "number",
              exclusiveMinimum: 0,
              description: "BM25 over the weighted fields; comparable within one answer only.",
            },
            highlight: {
              type: "object",
              additionalProperties: { type: "string" },
              description:
                "By field (`name`, `keywords`, `description`), as HTML: matches are in " +
                "`<em>`, everything else is escaped.",
            },
            fragments: {
              type: "object",
              description: "With `fragments=true`: by field, as pieces of plain text.",
              additionalProperties: {
                type: "array",
                items: {
                  type: "object",
                  required: ["text", "found"],
                  properties: {
                    text: { type: "string" },
                    found: { type: "boolean", description: "Whether it is a match." },
                  },
                },
              },
            },
            explanation: {
              type: "array",
              description:
                "With `explain=true`: parts that add up to the score, the largest first; empty " +
                "for a record that was not ranked.",
              items: {
                type: "object",
                required: ["reason", "text", "score"],
                properties: {
                  reason: { type: "string", enum: ["term", "related", "nearness"] },
                  text: nullable("string", "The term or its stem; null for nearness."),
                  score: { type: "number" },
                },
              },
            },
          },
        },
      },
      time_taken_ms: { type: "number", description: "Duration of the search." },
    },
  },
  Reference: {
    type: "object",
    required: ["@id"],
    properties: { "@id": { type: "string" } },
    additionalProperties: true,
  },
  ShapeReport: {
    type: "object",
    description: "What a check by SHACL shapes found.",
    required: ["conforms", "results", "checked", "truncated"],
    properties: {
      conforms: { type: "boolean" },
      results: { type: "array", items: schemaRef("ShapeResult") },
      checked: { type: "integer", description: "Records that were checked." },
      truncated: { type: "boolean", description: "There are more results than these." },
    },
  },
  ShapeResult: {
    type: "object",
    required: ["node", "kind", "path", "value", "message", "severity", "constraint", "shape"],
    properties: {
      node: { type: "string", description: "Identifier of the record." },
      kind: { type: "string" },
      path: nullable("string", "IRI of the property; null when the record itself is at fault."),
      value: nullable("string", "The value at fault; null when one is lacking."),
      message: { type: "string" },
      severity: { type: "string", enum: ["Violation", "Warning", "Info"] },
      constraint: { type: "string", description: "SHACL constraint component." },
      shape: { type: "string", description: "IRI of the node shape." },
    },
  },
  ...EVIDENCE_SCHEMAS,
  ...SCORE_SCHEMAS,
};
