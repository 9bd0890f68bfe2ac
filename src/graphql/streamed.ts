import { GraphQLError, OperationTypeNode, getOperationAST, type ExecutionArgs, type ExecutionResult, type GraphQLFormattedError, type GraphQLSchema } from "graphql";
import type { ClientAddress } from "../client-address.js";
import type { Context } from "../resolvers/context.js";
import type { Log } from "../use-cases/deps.js";
import type { Documents } from "./documents.js";
import { cutErrors, formatError } from "./errors.js";

/** What transports of many answers (WebSocket, server-sent events) share with the one over HTTP. */
export interface Streaming {
  schema: GraphQLSchema;
  documents: Documents;
  log: Log;
  /** A context of its own for each operation. @throws ServiceError `INVALID_TOKEN`, `NOT_AUTHENTICATED` */
  contextFor(authorization: string | undefined, address: string, request?: string, signal?: AbortSignal): Promise<Context>;
  addressOf: ClientAddress;
}

export interface StreamedOperation { query: unknown; operationName?: unknown; variables?: unknown }

/** An operation ready to be executed, within the limits; or why it is not. Writes go over HTTP, whose bodies are read strictly. */
export function prepared({ schema, documents }: Streaming, { query, operationName, variables }: StreamedOperation): Omit<ExecutionArgs, "contextValue"> | readonly GraphQLError[] {
  const refused = (message: string) => [new GraphQLError(message)];
  if (typeof query !== "string") return refused("The operation has no query.");
  if (operationName != null && typeof operationName !== "string") return refused("operationName is a string.");
  if (variables != null && (typeof variables !== "object" || Array.isArray(variables))) return refused("variables is an object.");
  const checked = documents.check(query, operationName, variables as Record<string, unknown>);
  if ("errors" in checked) return checked.errors;
  const operation = getOperationAST(checked.document, operationName);
  if (!operation) return refused("Say with operationName which operation of the document is meant.");
  if (operation.operation === OperationTypeNode.MUTATION) return refused("Send mutations to /graphql over HTTP POST; this transport answers subscriptions and queries.");
  const misfit = documents.misfit(checked.document, operationName, (variables ?? {}) as Record<string, unknown>);
  if (misfit) return [misfit];
  return { schema, document: checked.document, operationName: operationName ?? null, variableValues: (variables ?? {}) as Record<string, unknown> };
}

/** The answer with errors as clients see them. @param request name of the operation in the log */
export function formatted(result: ExecutionResult, log: Log, request: string): { data?: unknown; errors?: GraphQLFormattedError[] } {
  const { errors: all, ...rest } = result;
  const errors = all && [...all];
  if (errors) cutErrors(errors);
  return errors ? { ...rest, errors: errors.map((error) => formatError(error.toJSON(), error, log, request)) } : rest;
}
