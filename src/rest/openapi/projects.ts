import { KINDS } from "../../model/kinds/index.js";
import type { Operation } from "./operation.js";
import { AUTHORIZATION, arkPath, path } from "./parameters.js";
import { recordOperations } from "./records.js";

const withHeader = (operation: Operation): Operation => ({ ...operation, parameters: [...(operation.parameters ?? []), AUTHORIZATION] });

/** The contract declares the header on every project operation. */
const projects = recordOperations(KINDS.project).map(withHeader);
const get = projects.find((operation) => operation.operationId === "get_project")!;

/** A project by the organization it belongs to: the path that the contract names; `get_project` takes the identifier as a whole. */
const getOfOrganization: Operation = {
  ...get,
  path: "/project/ark:{NAAN}/{organization}/{postfix}",
  operationId: "get_project_of_organization",
  summary: "One project of an organization",
  description: "The project with the identifier `ark:{NAAN}/{organization}/{postfix}`; else the project `ark:{NAAN}/{postfix}` whose `memberOf` is `ark:{NAAN}/{organization}`.",
  parameters: [
    ...arkPath("ark:99999/project-atlas").slice(0, 1),
    path("organization", "The organization's identifier after the NAAN.", { type: "string" }, "organization-lab"),
    ...arkPath("ark:99999/project-atlas").slice(1),
    ...(get.parameters ?? []).slice(arkPath("").length),
  ],
};

export const PROJECTS: readonly Operation[] = [...projects, getOfOrganization];

/** The contract declares the header on every organization operation but the list. */
export const ORGANIZATIONS: readonly Operation[] = recordOperations(KINDS.organization).map((operation) =>
  operation.operationId === "list_organization" ? operation : withHeader(operation));
