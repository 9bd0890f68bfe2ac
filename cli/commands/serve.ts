import { runService } from "../../src/service.js";

/** Runs the registry until it is told to stop. */
export const serveCommand = (): Promise<void> => runService();
