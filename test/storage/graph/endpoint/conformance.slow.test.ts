import { beforeAll, describe } from "vitest";
import { openEndpointEngine } from "../../../../src/storage/graph/endpoint/index.js";
import { queryEngineConformance } from "../../../conformance/query-engine.js";
import { MemoryLeases } from "../../../support/memory-leases.js";
import { FUSEKI } from "../../../support/servers/fuseki.js";
import { OXIGRAPH } from "../../../support/servers/oxigraph.js";
import { sparqlServer } from "../../../support/servers/installed.js";

for (const make of [OXIGRAPH, FUSEKI]) {
  const server = sparqlServer(make);
  describe.skipIf(!server.installed)(make.name, () => {
    beforeAll(async () => {
      await server.start();
    });
    queryEngineConformance(`A SPARQL endpoint (${make.name})`, async (feed) => {
      await server.clear();
      return openEndpointEngine({
        openFeed: feed.open,
        leases: new MemoryLeases(),
        source: async () => "conformance",
        queryUrl: server.queryUrl,
        updateUrl: server.updateUrl,
        pageSize: 2,
        poll: 100,
      });
    });
  });
}
