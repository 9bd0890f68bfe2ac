import { runService } from "../../src/app/service.js";

/** Runs the registry until it receives SIGTERM or SIGINT. */
export const serveCommand = ({ role }: { role?: string }): Promise<void> =>
  runService({ ...process.env, ...(role === undefined ? {} : { ROLE: role }) });
