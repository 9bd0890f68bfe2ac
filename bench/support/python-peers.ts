import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { JsonObject } from "../../src/model/field.js";
import { startServer, type Server } from "./server.js";

const run = promisify(execFile);

/** arklet with SQLite, which its migrations do not read, in place of PostgreSQL; all else is its own. */
const SETTINGS = `import os
from arklet.entrypoints.settings import *
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["ARKS"]}}
MIGRATION_MODULES = {"ark": None}
`;
/** Reads paths of ARKs, one a line, and binds each. */
const BIND = `import sys, django
django.setup()
from django.core.management import call_command
from arklet.ark.models import Ark, Naan
call_command("migrate", verbosity=0, run_syncdb=True)
naan = Naan.objects.create(naan=99999, name="Bench", description="", url="https://arks.example")
names = sorted({line.strip().split("/", 2)[2] for line in open(sys.argv[1])})
Ark.objects.bulk_create([
    Ark(ark="99999/" + name, naan=naan, shoulder="/", assigned_name=name,
        url="https://records.example/" + name)
    for name in names
], batch_size=500)
`;

/**
 * arklet, an ARK resolver on Django, behind gunicorn with a process for each core.
 * @param paths that it resolves, `/ark:99999/…`
 * @throws Error where Python lacks one of the packages
 */
export async function startArklet(
  folder: string,
  paths: readonly string[],
  cores: number,
): Promise<Server> {
  const env = {
    PYTHONPATH: folder,
    DJANGO_SETTINGS_MODULE: "bench_settings",
    ARKS: join(folder, "arks.db"),
  };
  await writeFile(join(folder, "bench_settings.py"), SETTINGS);
  await writeFile(join(folder, "bind.py"), BIND);
  await writeFile(join(folder, "paths.txt"), paths.join("\n"));
  await run("python3", ["-c", "import gunicorn"]);
  await run("python3", [join(folder, "bind.py"), join(folder, "paths.txt")], {
    env: { ...process.env, ...env },
  });
  const options = ["--workers", String(cores), "--bind", "127.0.0.1:0", "--keep-alive", "60"];
  const command = ["-m", "gunicorn", ...options, "--worker-class", "gthread"];
  const app = "arklet.entrypoints.wsgi:application";
  // It reports its address on the standard error.
  return startServer("sh", ["-c", 'exec python3 "$@" 2>&1', "sh", ...command, app], env);
}

/** Prints the median ms of a graph, and its nodes. Nodes are not condensed: ours are all there. */
const EVIDENCE = `import json, statistics, sys, time
from fairscape_graph_tools.evidence_graph_builder import EvidenceGraphBuilder
sys.setrecursionlimit(100000)
nodes = {node["@id"]: node for node in json.load(open(sys.argv[1]))}

class Source:
    def find_entity(self, ark):
        return nodes.get(ark)
    def find_many(self, arks):
        return {ark: nodes[ark] for ark in arks if ark in nodes}

class Sink:
    def persist_evidence_graph(self, graph, source):
        self.graph = graph
        self.text = graph.model_dump_json(by_alias=True)
        return graph.guid

sink = Sink()
builder = EvidenceGraphBuilder(Source(), sink, condense_threshold=10**9)
took = []
for each in range(int(sys.argv[3])):
    began = time.perf_counter()
    builder.build(sys.argv[2], owner_email="bench@example.org")
    took.append((time.perf_counter() - began) * 1000)
print(json.dumps({"ms": statistics.median(took), "nodes": len(sink.graph.graph)}))
`;

/**
 * The evidence graph of a document by fairscape-graph-tools, with all documents in its own memory:
 * median ms of so many, without the start of Python.
 * @throws Error where Python lacks the package
 */
export async function fairscapeEvidence(
  folder: string,
  documents: readonly JsonObject[],
  of: string,
  times: number,
): Promise<{ ms: number; nodes: number }> {
  const file = join(folder, "documents.json");
  await writeFile(file, JSON.stringify(documents));
  await writeFile(join(folder, "evidence.py"), EVIDENCE);
  const { stdout } = await run("python3", [join(folder, "evidence.py"), file, of, String(times)]);
  return JSON.parse(stdout) as { ms: number; nodes: number };
}
