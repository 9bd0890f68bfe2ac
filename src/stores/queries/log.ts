/** What an engine tells; pino's loggers fit. */
export interface EngineLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silent: EngineLog = { info() {}, warn() {}, error() {} };
