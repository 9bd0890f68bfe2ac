import { EndpointEngine } from "./engine.js";
import type { EndpointOptions } from "./options.js";

export { EndpointEngine } from "./engine.js";
export { OpenEndpoint, type OpenEndpointOptions } from "./open-engine.js";
export { BOOKKEEPING } from "./options.js";
export { OwnServer } from "./own-server.js";
export type { EndpointAddress, EndpointOptions } from "./options.js";

/**
 * Opens an engine on an endpoint. The engine polls the endpoint in the background and fills it
 * where necessary.
 */
export async function openEndpointEngine(options: EndpointOptions): Promise<EndpointEngine> {
  const engine = new EndpointEngine(options);
  engine.start();
  return engine;
}
