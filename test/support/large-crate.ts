import { crate, type Entity, type Members } from "./crates.js";

/**
 * A crate that takes a while: many entities, some of them files.
 * @param name makes archives differ
 */
export function largeCrate(name: string, entities: number): Promise<Buffer> {
  const files: Members = {};
  const graph = Array.from({ length: entities }, (_, at): Entity => {
    if (at % 20 !== 0)
      return {
        "@id": `#${at}`,
        "@type": "Dataset",
        name: `Part ${at}`,
        description: `Part ${at} of ${name}`,
        isBasedOn: { "@id": `#${at - 1}` },
      };
    files[`files/${at}.txt`] = `${name} ${at}\n`;
    return { "@id": `files/${at}.txt`, "@type": "File", name: `File ${at}` };
  });
  return crate(graph, files, { name });
}
