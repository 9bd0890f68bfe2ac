import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findFile, findProgram } from "./programs.js";
import type { Make } from "./sparql-server.js";

/** Apache Jena Fuseki over TDB2, on Java 17. */
export const FUSEKI: Make = {
  name: "Fuseki",
  needs:
    "mvn dependency:copy -Dartifact=org.apache.jena:jena-fuseki-server:5.6.0 " +
    "-DoutputDirectory=FOLDER, with TEST_SERVERS=FOLDER, and java",
  command(port, folder) {
    const java = findProgram("java");
    const jar = findFile(/^jena-fuseki-server-.*\.jar$/);
    if (java === undefined || jar === undefined) return undefined;
    // Its classes as the JVM caches them for its next start, on machines that are set up for it:
    // less than half the start.
    const classes = findFile(/^jena-fuseki-server-.*\.jsa$/);
    const data = join(folder, "data");
    if (folder !== "") mkdirSync(data, { recursive: true });
    return [
      java,
      "-Xmx512m",
      "-XX:TieredStopAtLevel=1",
      "-XX:+UseSerialGC",
      ...(classes === undefined ? [] : [`-XX:SharedArchiveFile=${classes}`]),
      "-jar",
      jar,
      "--localhost",
      `--port=${port}`,
      "--tdb2",
      `--loc=${data}`,
      "--set=tdb2:unionDefaultGraph=true",
      "--update",
      "/ds",
    ];
  },
  query: "/ds/query",
  update: "/ds/update",
};
