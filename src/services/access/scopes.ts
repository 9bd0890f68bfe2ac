/**
 * What an access token may do. A token has scopes; each operation needs one; this table says which.
 * Transports ask it before they read any input.
 */
import { ServiceError } from "../../errors.js";

/** Every token reads: the answer to a write shows the record, so the others include `read`. */
export const SCOPES = ["read", "write", "publish", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** What a caller's access token allows; without one, all that the account may do. */
export interface Scoped {
  readonly scopes?: readonly Scope[];
  /** ARK of the only crate, project or group where the caller has rights. */
  readonly boundTo?: string;
}

const kinds = (verbs: string, names: string): string =>
  verbs
    .split(" ")
    .flatMap((verb) => names.split(" ").map((name) => verb + name))
    .join(" ");

const SNAKE_KINDS =
  "user group organization project software dataset computation evidencegraph schema datadownload";
const CAMEL_KINDS =
  "User Group Organization Project Software Dataset Computation EvidenceGraph Schema DataDownload";

/**
 * The table: names of REST operations (`operationId`) with an underscore or in lower case, names of
 * GraphQL fields in camel case. Pages ask GraphQL fields. Operations that need no account, such as a
 * sign-in, are in `read`; so are dry runs, which store nothing.
 */
const TABLE: Readonly<Record<Scope, string>> = {
  read: `
    token login refresh_token revoke_refresh_token begin_device_login device_token
    me start_session read_session end_session reset_password signIn resetPassword
    get_rocrate list_rocrate summarize_crate list_crate_files download_archive download_crate
    upload_status list_submissions submission submissions submissionProgress
    validate_crate planCrate validate_table validateTable validate
    ai_ready_score aiReadyScore score_history rescore_status evidence_build_status
    query_evidence evidence_impact evidence_path evidence impact supportPath origin
    download_datadownload download_dataset download_software download_content
    view_crate_page view_content preview ontology
    oai_get oai_post sitemap catalog feed void_description api_catalog
    resolve_ark resolve_history publication_status execution_status get_project_of_organization
    ${kinds("get_ history_", SNAKE_KINDS)} history_rocrate
    list_records list_record_statistics search_basic search_semantic sparql_get sparql_post
    ${kinds("list_", SNAKE_KINDS)}
    list_mlmodel list_sample list_instrument list_experiment list_annotation list_entity
    root_page page health readiness docs_page openapi_json openapi_yaml
    annotation annotations computation computations dataDownload dataDownloads dataset datasets
    entity entities evidenceGraph evidenceGraphs experiment experiments group groups
    instrument instruments mlModel mlModels node nodes organization organizations
    project projects record records recordChanges recordStatistics revision revisions
    roCrate roCrates sample samples schema schemas search software softwares user userByEmail users
    list_access_tokens accessTokens list_access_requests accessRequests
    list_review_links reviewLinks`,
  // An access token makes no other credentials, whatever its scopes: the services refuse it.
  write: `
    create_access_token createAccessToken revoke_access_token revokeAccessToken
    change_password changePassword
    request_access requestAccess decide_access_request decideAccessRequest
    ${kinds("create_ update_ patch_ delete_", SNAKE_KINDS)}
    ${kinds("create replace update", CAMEL_KINDS)}
    update_ark patch_ark delete_ark updateRecord deleteRecord delete_records deleteRecords
    deleteContent restore_revision restoreRevision transfer_records transferRecords
    create_crate_metadata upload_crate upload_crate_async uploadCrate delete_rocrate
    cancel_upload cancelSubmission retry_upload retrySubmission
    create_download register_download registerDownload upload_datadownload uploadContent
    add_group_user addGroupMember remove_group_user removeGroupMember
    build_evidence buildEvidenceGraph rescore rescoreCrate
    execute_computation executeComputation record_lineage recordLineage`,
  publish: `
    create_review_link createReviewLink revoke_review_link revokeReviewLink
    publish publish_records publishRecord publishRecords reserve_doi reserveDoi`,
  admin: `
    admin_accounts admin_set_account admin_password_reset admin_figures admin_audit
    auditEntries accounts registryFigures updateAccount createPasswordReset`,
};

/**
 * Operations on what an account has apart from records, or that make records of its own: a token
 * that is bound to one crate, project or group has no use for them.
 */
const OF_ACCOUNT: ReadonlySet<string> = new Set(
  `list_access_requests accessRequests request_access requestAccess
   list_access_tokens accessTokens revoke_access_token revokeAccessToken
   list_submissions submissions build_evidence buildEvidenceGraph
   record_lineage recordLineage`.split(/\s+/),
);

const NEEDED: ReadonlyMap<string, Scope> = new Map(
  SCOPES.flatMap((scope) =>
    TABLE[scope]
      .trim()
      .split(/\s+/)
      .map((operation): [string, Scope] => [operation, scope]),
  ),
);

/** The scope that an operation needs. @throws Error for an operation that the table lacks */
export function neededScope(operation: string): Scope {
  const scope = NEEDED.get(operation);
  if (scope === undefined) throw new Error(`no scope is declared for the operation ${operation}`);
  return scope;
}

/**
 * May the caller use this operation at all? Which records it may change is decided with the record.
 * @throws ServiceError `INSUFFICIENT_SCOPE`, `FORBIDDEN`
 */
export function assertScope(caller: Scoped | null, operation: string): void {
  const needed = neededScope(operation);
  if (caller?.scopes && needed !== "read" && !caller.scopes.includes(needed))
    throw new ServiceError(
      "INSUFFICIENT_SCOPE",
      `The token has the scopes ${caller.scopes.join(", ")}, and this operation needs ${needed}: ` +
        "make a token with that scope.",
      {},
      { "WWW-Authenticate": `Bearer error="insufficient_scope", scope="${needed}"` },
    );
  if (caller?.boundTo !== undefined && OF_ACCOUNT.has(operation))
    throw new ServiceError(
      "FORBIDDEN",
      `The token is bound to ${caller.boundTo}, and this operation concerns your whole account: ` +
        "use a token that is not bound.",
    );
}

/** Scopes as they are stored. */
export const scopesIn = (text: string): Scope[] =>
  SCOPES.filter((scope) => text.split(" ").includes(scope));
