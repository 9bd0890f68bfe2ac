import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../../errors.js";

/** The server was silent for longer than S3_TIMEOUT allows. */
export class Silence extends Error {
  constructor(readonly ms: number) {
    super(`nothing in ${ms} ms`);
  }
}

/**
 * Of an answer that is an error from the start, or that became one after its status was sent; or of
 * the connection.
 */
export const codeOf = (error: unknown): string => {
  const { code, Code } = (error ?? {}) as { code?: string; Code?: string };
  return code ?? Code ?? "";
};

/** S3's own codes (its error list), besides statuses, that come and go. */
const PASSING = new Set([
  "SlowDown",
  "InternalError",
  "ServiceUnavailable",
  "RequestTimeout",
  "OperationAborted",
  // Of an upload in parts that another process, which sends the same bytes, completed or aborted.
  "NoSuchUpload",
  "InvalidPart",
  "InvalidPartOrder",
]);
/** Error codes of failed connections. */
const CONNECTION = new RegExp(
  String.raw`^(?:E(?:CONN(?:REFUSED|RESET|ABORTED)|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTF` +
    String.raw`OUND|PROTO)|HPE_\w+|ERR_STREAM_\w+|ERR_SSL_\w+|UND_\w+)$`,
);
const CERTIFICATE = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_)/;
/**
 * Codes of servers that have no space left, or may not use more of it: S3 itself has no code for
 * that.
 */
const FULL = /StorageFull|DiskFull|Insufficient\w*Storage|QuotaExceeded/;
const CREDENTIALS = new Set([
  "AccessDenied",
  "InvalidAccessKeyId",
  "SignatureDoesNotMatch",
  "Forbidden",
  "AllAccessDisabled",
  "AccountProblem",
  "InvalidSecurity",
  "InvalidToken",
  "ExpiredToken",
]);

export const isMissing = (error: unknown): boolean =>
  ["NoSuchKey", "NotFound"].includes(codeOf(error));
/** The status of an answer after which the client gave up; 501 and 507 are answers. */
const statusOf = (error: unknown): string | undefined =>
  /Retryable HTTP status: (\d+)/.exec((error as Error | null)?.message ?? "")?.[1];

/** Whether the same call may succeed when it is made again. */
function mayPass(error: unknown): boolean {
  const name = (error as Error | null)?.name;
  // A call that fails after its status was sent answers with another document than expected, or
  // without a code.
  const late = name === "InvalidXMLError" || (name === "S3Error" && codeOf(error) === "");
  return (
    error instanceof Silence || late || PASSING.has(codeOf(error)) || CONNECTION.test(codeOf(error))
  );
}

const unavailable = (message: string) => new ServiceError("STORE_UNAVAILABLE", message);

/**
 * Converts a fault of the server into the error that every store gives; it holds nothing of the
 * request, which is signed. Other errors stay unchanged.
 */
export function asStoreError(
  error: unknown,
  { endpoint, bucket }: { endpoint: string; bucket: string },
): unknown {
  if (error instanceof ServiceError) return error;
  const at = `The object store at ${endpoint}`;
  const code = codeOf(error);
  if (error instanceof Silence)
    return unavailable(
      `${at} sent nothing for S3_TIMEOUT=${error.ms} ms; try again, or raise the setting.`,
    );
  const status = statusOf(error);
  if (status !== undefined) return unavailable(`${at} answers with status ${status}; try again.`);
  if (code === "NoSuchBucket")
    return unavailable(
      `${at} has no bucket ${bucket}; create it, or set S3_CREATE_BUCKET=yes and start again.`,
    );
  if (CREDENTIALS.has(code))
    return unavailable(
      `${at} refuses the credentials (${code}); check S3_ACCESS_KEY, S3_SECRET_KEY and ` +
        `their permissions for the bucket ${bucket}.`,
    );
  if (FULL.test(code))
    return unavailable(`${at} has no space left (${code}); free some space, then try again.`);
  if (
    code === "AuthorizationHeaderMalformed" ||
    code === "MovedPermanently" ||
    code === "PermanentRedirect"
  )
    return unavailable(
      `${at} has the bucket ${bucket} in another region (${code}); check S3_REGION and ` +
        "S3_ENDPOINT.",
    );
  if (code === "RequestTimeTooSkewed")
    return unavailable(
      `${at} has a clock that differs from this machine's; synchronise the clocks.`,
    );
  if (CERTIFICATE.test(code))
    return unavailable(
      `${at} has a certificate that is not trusted (${code}); set NODE_EXTRA_CA_CERTS to ` +
        "the certificate of its authority.",
    );
  if (CONNECTION.test(code)) return unavailable(`${at} cannot be reached (${code}); try again.`);
  if (mayPass(error))
    return unavailable(
      `${at} is unavailable at the moment (${code || (error as Error).message}); try again.`,
    );
  // An S3 code is a word in capitals and small letters, some makes put an X before theirs; codes of
  // Node have no small ones.
  if (/^[A-Z]\w*[a-z]\w*$/.test(code)) return unavailable(`${at} refused the request (${code}).`);
  return error;
}

/** Pause (ms) before the first retry, doubled each time, and the longest one. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5000;

/**
 * Retries a call whose connection failed; the client itself retries what the server answers with a
 * status that may pass. A silent server gets one retry only: its connection may have been dead.
 * @throws the last fault
 */
export async function retried<T>(
  call: () => Promise<T>,
  { retries }: { retries: number },
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await call();
    } catch (error) {
      const tries = error instanceof Silence ? Math.min(1, retries) : retries;
      if (!mayPass(error) || failures >= tries) throw error;
      // Never as long as others wait.
      await sleep(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures) * (0.5 + Math.random()));
    }
  }
}
