// Asks Comunica the queries of a JSON file, and writes its answers. Arguments: the folder of Comunica, that file.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, file] = process.argv.slice(2);
const { QueryEngine } = await import(
  pathToFileURL(join(folder, "node_modules/@comunica/query-sparql/lib/index.js")).href
);
const engine = new QueryEngine();

const ask = {
  /** Rows as objects; with `most` the query is left when there are so many. */
  async bindings(query, context, most = Infinity) {
    const stream = await engine.queryBindings(query, context);
    const rows = [];
    for await (const row of stream) {
      rows.push(Object.fromEntries([...row].map(([{ value }, term]) => [value, term.value])));
      if (rows.length >= most) break;
    }
    stream.destroy();
    return rows;
  },
  async quads(query, context) {
    const found = [];
    for await (const { subject, predicate, object } of await engine.queryQuads(query, context))
      found.push([subject.value, predicate.value, object.value]);
    return found;
  },
  boolean: (query, context) => engine.queryBoolean(query, context),
};

const answers = [];
for (const { form = "bindings", query, sources, most } of JSON.parse(await readFile(file, "utf8")))
  answers.push(
    await ask[form](query, { sources }, most).catch((error) => ({ error: error.message })),
  );
process.stdout.write(JSON.stringify(answers));
