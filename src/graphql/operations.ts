/** Operations with many answers: what WebSockets and server-sent events have in common. */
import {
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  type OperationDefinitionNode,
  OperationTypeNode,
} from "graphql";
import type { ClientAddress } from "../config/client.js";
import type { SentCredentials } from "../services/accounts/tokens.js";
import type { Deps } from "../services/deps.js";
import type { Log } from "../log.js";
import type { Documents, Price } from "./documents.js";
import { cutErrors, formatError } from "./errors.js";
import { checkedParameters } from "./parameters.js";
import type { Context } from "./resolvers/context.js";

/** What the transports share with GraphQL over HTTP. */
export interface Streaming {
  schema: GraphQLSchema;
  documents: Documents;
  log: Log;
  /**
   * A separate context for each operation.
   * @throws ServiceError `INVALID_TOKEN`, `NOT_AUTHENTICATED`, `CSRF_REFUSED`
   */
  contextFor(
    credentials: SentCredentials,
    address: string,
    request?: string,
    isAbandoned?: () => boolean,
  ): Promise<Context>;
  addressOf: ClientAddress;
  /** The registry's own address. */
  base: Pick<Deps, "baseUrl" | "config">;
  /** ms that a client may take to accept an event; bound GRAPHQL_SEND_TIMEOUT. */
  sendTimeout: number;
}

/** An operation, ready for execution, and its price. */
export type Prepared = Omit<ExecutionArgs, "contextValue"> & { price: Price };

/**
 * An operation within the limits, or the reasons why it is refused. Writes go over HTTP, whose
 * bodies are parsed strictly.
 * @throws GraphQLError, ServiceError
 */
export async function prepared(
  { schema, documents }: Streaming,
  sent: unknown,
): Promise<Prepared | readonly GraphQLError[]> {
  const parameters = checkedParameters(sent);
  const document = await documents.read(parameters);
  if (!("kind" in document)) return document;
  const { operationName, variables: variableValues = {} } = parameters;
  const operation = getOperationAST(document, operationName);
  if (!operation)
    throw new GraphQLError("The document has no such operation, or several: set operationName.", {
      extensions: { code: "OPERATION_RESOLUTION_FAILURE" },
    });
  if (operation.operation === OperationTypeNode.MUTATION)
    throw new GraphQLError(
      "Send mutations to /graphql over HTTP POST; this transport answers subscriptions and " +
        "queries.",
    );
  assertFits(schema, operation, variableValues);
  const price = await documents.price(document, operation, variableValues);
  return { price, schema, document, operationName: operationName ?? null, variableValues };
}

/**
 * Refuses large variables that do not fit their types with the first reason only. The execution
 * lists up to fifty, each with the invalid value, which may be megabytes.
 * @throws GraphQLError
 */
export function assertFits(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): void {
  const { errors } = getVariableValues(schema, variableDefinitions, variables, { maxErrors: 1 });
  if (errors?.[0]) throw errors[0];
}

/** The answer with errors as clients see them. @param request name of the operation in the log */
export function formatted(
  { errors, ...answered }: ExecutionResult,
  log: Log,
  request: string,
  cost: Price | undefined,
): { data?: unknown; errors?: GraphQLFormattedError[]; extensions?: object } {
  const rest = cost ? { ...answered, extensions: { cost } } : answered;
  if (!errors) return rest;
  const listed = [...errors];
  cutErrors(listed);
  return {
    ...rest,
    errors: listed.map((error) => formatError(error.toJSON(), error, log, request)),
  };
}

/**
 * Has the end of a subscription never reject: the libraries do not wait for it, and Node ends the
 * process for a rejection that nobody handles.
 */
export function containEnd(
  result: ExecutionResult | AsyncGenerator,
  log: Log,
  request: string,
): void {
  if (!("return" in result)) return;
  const end = result.return.bind(result);
  result.return = (value) =>
    end(value).catch((err: unknown) => {
      log.error({ err, request }, "a GraphQL operation did not end");
      return { done: true, value: undefined };
    });
}

/** Time (ms) in which a client that was too slow may still read why its stream ends. */
export const SLOW_FAREWELL = 5_000;

/** Why a slow client is disconnected; short enough for the reason of a WebSocket's close frame. */
export const tooSlow = (timeout: number): string =>
  `The client accepted nothing for ${timeout / 1000} s (GRAPHQL_SEND_TIMEOUT). Subscribe again.`;

/**
 * Watches how many bytes wait for a client, which may be 0 at least once in `timeout` ms.
 * @param end is called once for a client that is slower
 * @returns ends the watch
 */
export function watchClient(waiting: () => number, timeout: number, end: () => void): () => void {
  let since = performance.now();
  const clock = setInterval(
    () => {
      const now = performance.now();
      if (waiting() === 0) since = now;
      if (now - since < timeout) return;
      clearInterval(clock);
      end();
    },
    Math.min(1_000, timeout / 4),
  );
  return () => clearInterval(clock);
}
