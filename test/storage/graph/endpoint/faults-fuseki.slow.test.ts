import { FUSEKI } from "../../../support/servers/fuseki.js";
import { endpointFaults } from "./faults.js";

endpointFaults(FUSEKI, { all: false });
