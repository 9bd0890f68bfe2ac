import { pino, type Logger } from "pino";

/** Header and field names whose values never reach a log line. */
const SECRETS = [
  "password",
  "adminToken",
  "authorization",
  "*.password",
  "*.adminToken",
  "*.authorization",
  "headers.authorization",
  "req.headers.authorization",
];

/** Structured lines on standard error; standard output is for the results of commands. */
export function openLog(level: string): Logger {
  return pino(
    { level, redact: { paths: SECRETS, censor: "[secret]" } },
    pino.destination({ fd: 2, sync: false }),
  );
}
