import { OXIGRAPH } from "../../../support/servers/oxigraph.js";
import { endpointFaults } from "./faults.js";

endpointFaults(OXIGRAPH, { all: true });
