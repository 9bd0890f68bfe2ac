import { runService } from "../../src/service.js";

/** Runs the registry until it is told to stop. */
export const serveCommand = ({ role }: { role?: string }): Promise<void> => runService({ ...process.env, ...(role === undefined ? {} : { ROLE: role }) });
