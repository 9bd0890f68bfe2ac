/** The parts of a request to a registry. */
export interface HostileRequest {
  /** Its purpose, for reports. */
  name: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: Buffer;
  /** The body is begun, and its end never sent. */
  slow?: true;
  /** Sent together over a WebSocket at the path, once it is open. */
  messages?: readonly string[];
}
/** The sender, and a record that is known to be stored. */
export interface Target {
  token: string;
  user: string;
  record: string;
  /** The crate of {@link largeCrate}, where it is stored. */
  large?: string;
}

/** What belongs to a crate has its identifier and one of these names. */
const [SOURCE, CHAIN, FAT] = ["source", "chain", "fat"] as const;

/**
 * Metadata of a crate with many members that all derive from one, a chain of as many, and a member
 * of megabytes.
 */
export function largeCrate(crate: string, members: number, fat: number): object {
  const id = (name: string) => `${crate}/${name}`;
  const dataset = (name: string, more: object = {}) => ({
    "@id": id(name),
    "@type": "EVI:Dataset",
    name,
    ...more,
  });
  const entities = [
    dataset(SOURCE),
    dataset(FAT, { description: "zebra ".repeat(fat / 6) }),
    ...many(members, (index) => dataset(`member-${index}`, { derivedFrom: { "@id": id(SOURCE) } })),
    ...many(members, (index) =>
      dataset(
        `${CHAIN}-${index}`,
        index === 0 ? {} : { derivedFrom: { "@id": id(`${CHAIN}-${index - 1}`) } },
      ),
    ),
  ];
  return {
    "@context": ["https://w3id.org/ro/crate/1.1/context", { EVI: "https://w3id.org/EVI#" }],
    "@graph": [
      {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
        about: { "@id": crate },
      },
      {
        "@id": crate,
        "@type": ["Dataset", "EVI:ROCrate"],
        name: "A large crate",
        description: "Many members, a chain of as many, and one of megabytes.",
        datePublished: "2024-01-01",
        license: "https://creativecommons.org/licenses/by/4.0/",
        hasPart: entities.map(({ "@id": part }) => ({ "@id": part })),
      },
      ...entities,
    ],
  };
}

/** Numbers from a seed (mulberry32): a run can be repeated. */
export function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Roll = () => number;
const pick = <T>(roll: Roll, all: readonly T[]): T => all[Math.floor(roll() * all.length)]!;
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const JSON_TYPE = { "Content-Type": "application/json" };
const FORM_TYPE = { "Content-Type": "application/x-www-form-urlencoded" };

/**
 * Just within the limit of values, around it, or far beyond, which takes its sender the longest to
 * make.
 */
const COUNTS = [300, 300, 300, 3_000, 3_000, 3_000, 9_000, 9_000, 19_000, 25_000, 700_000];
/** Bytes of one text, up to just within a body. */
const LENGTHS = [20_000, 20_000, 20_000, 20_000, 300_000, 300_000, 300_000, 2_000_000, 9_800_000];

type Shape = (roll: Roll) => object | string;
/** Members of a document, large, deep or wide; text is JSON as it is sent. */
const SHAPES: Readonly<Record<string, Shape>> = {
  keys: (roll) => Object.fromEntries(many(pick(roll, COUNTS) / 2, (index) => [`k${index}`, index])),
  numbers: (roll) => ({ x: many(pick(roll, COUNTS), (index) => index) }),
  keywords: (roll) => ({ keywords: many(pick(roll, COUNTS), (index) => `w${index}`) }),
  "long keywords": () => ({ keywords: many(9_000, (index) => `é${index} `.repeat(170)) }),
  objects: (roll) => ({
    x: many(pick(roll, COUNTS) / 5, (index) => ({ a: index, b: `x${index}` })),
  }),
  references: (roll) => ({
    isPartOf: many(pick(roll, COUNTS) / 3, (index) => ({ "@id": `ark:99999/x-${index}` })),
  }),
  arks: (roll) => ({
    usedByComputation: many(pick(roll, COUNTS), (index) => `ark:99999/c${index}`),
  }),
  "a list": (roll) => ({ x: { "@list": many(pick(roll, COUNTS), (index) => index) } }),
  contexts: (roll) => ({
    x: many(pick(roll, COUNTS) / 12, (index) => ({
      "@context": { a: `http://e.org/${index}` },
      a: index,
    })),
  }),
  "remote contexts": () => ({
    x: many(
      pick(() => 0.5, [0, 400]),
      (index) => ({ "@context": "https://w3id.org/ro/crate/1.1/context", name: index }),
    ),
  }),
  "a context of many terms": (roll) => ({
    "@context": Object.fromEntries([
      ["@vocab", "https://schema.org/"],
      ...many(pick(roll, COUNTS) / 2, (index) => [`t${index}`, `http://e.org/${index}`]),
    ]),
  }),
  "properties of a schema": (roll) => ({
    properties: Object.fromEntries(
      many(pick(roll, COUNTS) / 9, (index) => [
        `c${index}`,
        { type: "string", index, description: "x", pattern: "(a+)+$" },
      ]),
    ),
  }),
  "a graph": (roll) => ({
    "@graph": many(pick(roll, COUNTS) / 5, (index) => ({ "@id": `#${index}`, "@type": "Thing" })),
  }),
  depth: (roll) => `{"x":${"[".repeat(pick(roll, [150, 250, 100_000]))}`,
  "depth of objects": (roll) => {
    const depth = pick(roll, [60, 190, 300, 50_000]);
    return `{"x":${'{"a":'.repeat(depth)}1${"}".repeat(depth)}}`;
  },
  "a long name": (roll) => ({ name: "e\u0301".repeat(pick(roll, LENGTHS) / 3) }),
  "a long description": (roll) => ({
    description: pick(roll, ["abc ", "aé\n", '"\\', "\u{1F600}"]).repeat(pick(roll, LENGTHS) / 8),
  }),
  "a long id": (roll) => ({ "@id": `ark:99999/${"a-".repeat(pick(roll, LENGTHS) / 2)}` }),
  "a long owner": (roll) => ({ owner: `ark:99999/${"a-".repeat(pick(roll, LENGTHS) / 2)}` }),
  "a long date": (roll) => ({
    datePublished: `2024-01-01T00:00:00.${"1".repeat(pick(roll, LENGTHS))}`,
  }),
  "a long address": (roll) => ({
    email: `${"a".repeat(pick(roll, LENGTHS))}@x`,
    url: `http://${"a.".repeat(1_000)}`,
  }),
  "a long key": (roll) => ({ ["k".repeat(pick(roll, LENGTHS))]: many(200, () => 1) }),
  "inexact numbers": (roll) => `{"${"k".repeat(pick(roll, LENGTHS))}":[${"1e400,".repeat(200)}1]}`,
  "equal keys": () => `{${'"a":1,'.repeat(9_000)}"a":2}`,
  "escaped characters": (roll) => `{"description":"${"\\u00e9".repeat(pick(roll, LENGTHS) / 6)}"}`,
  "NUL at the end": (roll) => `{"description":"${"x".repeat(pick(roll, LENGTHS))}\\u0000"}`,
  "no JSON at the end": (roll) => `{"description":"${"x".repeat(pick(roll, LENGTHS))}"`,
  commas: (roll) => ",".repeat(pick(roll, LENGTHS)),
  spaces: (roll) => " ".repeat(pick(roll, LENGTHS)),
};

function documentOf(roll: Roll, { user }: Target): { name: string; body: Buffer } {
  const name = pick(roll, Object.keys(SHAPES));
  const shape = SHAPES[name]!(roll);
  const usual = {
    "@type": "evi:Dataset",
    name: "x",
    description: "Long enough to pass.",
    author: "A",
    owner: user,
    keywords: ["a"],
    version: "1",
    datePublished: "2024-01-01",
    manifestVersion: "1",
  };
  return {
    name,
    body: Buffer.from(typeof shape === "string" ? shape : JSON.stringify({ ...usual, ...shape })),
  };
}

/** GraphQL documents that are long, deep or repeat themselves. */
const DOCUMENTS: Readonly<Record<string, (roll: Roll) => string>> = {
  "one field over and over": (roll) =>
    `{ datasets { nodes { ${"name ".repeat(pick(roll, [90, 900, 1_900, 9_000]))} } } }`,
  "fields with selections": (roll) =>
    `{ ${"datasets { nodes { name } } ".repeat(pick(roll, [90, 280, 1_400]))} }`,
  "inline fragments": (roll) =>
    `{ datasets { nodes { ${"... { name } ".repeat(pick(roll, [90, 480, 2_400]))} } } }`,
  fragments: (roll) => {
    const count = pick(roll, [90, 240]);
    return (
      `{ datasets { nodes { ${many(count, (index) => `...F${index}`).join(" ")} } } } ` +
      many(count, (index) => `fragment F${index} on Dataset { name }`).join(" ")
    );
  },
  aliases: (roll) =>
    "{ " +
    `${many(pick(roll, [100, 390]), (index) => `a${index}: datasets(first: 100) { nodes { document } }`).join(" ")} ` +
    "}",
  "unknown fields": () => `{ ${many(1_900, (index) => `zz${index}`).join(" ")} }`,
  comments: (roll) => `${"#\n".repeat(pick(roll, [30_000, 500_000]))}{ me { id } }`,
  brackets: () => `{ record(id: ${"[".repeat(1_900)}`,
  "a list": () =>
    'mutation { createDataset(input: { dataset: { name: "x", description: "x", owner: "x", ' +
    `additionalProperties: { x: [${"1,".repeat(1_900)}] } } }) { revision } }`,
  depth: () => `{ record(id: "ark:99999/x") ${"{ owner ".repeat(200)}{ id }${" }".repeat(200)} }`,
  "aliases of documents": (roll) =>
    `{ ${pick(roll, ["records", "datasets"])}(first: 1000) { nodes { ${many(4, (index) => `a${index}: document`).join(" ")} } } }`,
  "aliases of __schema": (roll) =>
    `{ ${many(pick(roll, [2, 95]), (index) => `a${index}: __schema { types { name } }`).join(" ")} }`,
  "aliases within __schema": () =>
    "{ __schema { types { " +
    `${many(90, (index) => `a${index}: fields(includeDeprecated: true) { name type { name } }`).join(" ")} } } }`,
  introspection: () =>
    "{ __schema { types { name description fields(includeDeprecated: true) { name description " +
    "args { name description } type { name ofType { name ofType { name } } } } } } }",
  "names of types": () =>
    `{ datasets(first: 1000) { nodes { ${many(100, (index) => `a${index}: __typename`).join(" ")} } } }`,
  failures: () =>
    "{ datasets(first: 1000) { nodes { " +
    `${many(40, (index) => `a${index}: hasPart(first: -1) { nodes { id } }`).join(" ")} } } ` +
    "}",
};

type Entry = (
  roll: Roll,
  target: Target,
) => Omit<HostileRequest, "headers"> & { headers?: Record<string, string>; token?: boolean };

const ENTRIES: readonly (readonly [weight: number, entry: Entry])[] = [
  [
    8,
    (roll, target) => {
      const { name, body } = documentOf(roll, target);
      const [method, path] = pick(roll, [
        ["POST", "/dataset"],
        ["POST", "/dataset"],
        ["POST", "/dataset"],
        ["PUT", "/dataset"],
        ["PUT", `/${target.record}`],
        ["POST", "/schema"],
        ["POST", "/software"],
        ["POST", "/computation"],
        ["POST", "/evidencegraph"],
        ["POST", "/group"],
        ["PUT", "/user"],
        ["PUT", "/publish"],
      ] as const);
      return {
        name: `${method} ${path.replace(/ark:.*/, "ark:…")}: ${name}`,
        method,
        path,
        headers: JSON_TYPE,
        body,
      };
    },
  ],
  [
    2,
    (roll, target) => {
      const { name, body } = documentOf(roll, target);
      const path = pick(roll, [
        "/validate?kind=dataset",
        "/validate",
        "/rocrate/metadata",
        "/rocrate/validate",
      ]);
      return { name: `${path}: ${name}`, method: "POST", path, headers: JSON_TYPE, body };
    },
  ],
  [
    3,
    (roll, target) => {
      const path = pick(roll, ["/token", "/login", "/user"]);
      const { name, body } = documentOf(roll, target);
      const isForm = path !== "/user" && roll() < 0.5;
      return {
        name: `${path}: ${isForm ? "a form" : name}`,
        method: "POST",
        path,
        headers: isForm ? FORM_TYPE : JSON_TYPE,
        body: isForm ? Buffer.from("a=&".repeat(pick(roll, [900, 1_000_000]))) : body,
        token: false,
      };
    },
  ],
  [
    3,
    (roll, target) => {
      const { name, body } = documentOf(roll, target);
      const query = pick(roll, [
        "mutation ($d: DatasetInput!) { createDataset(input: { dataset: $d }) { revision } }",
        'mutation ($d: JSON!) { createDataset(input: { dataset: { name: "x", description: "A hostile one", ' +
          'owner: "ark:99999/x", additionalProperties: $d } }) { dataset { document } } }',
        'mutation ($d: JSON!) { updateRecord(input: { id: "ark:99999/x", patch: $d }) { revision } }',
        "query ($d: JSON!) { validate(document: $d, kind: DATASET) { conforms } }",
        "query ($d: String!) { me { id } }",
      ]);
      return {
        name: `/graphql, variables: ${name}`,
        method: "POST",
        path: "/graphql",
        headers: JSON_TYPE,
        body: Buffer.concat([
          Buffer.from(`{"query":${JSON.stringify(query)},"variables":{"d":`),
          body,
          Buffer.from("}}"),
        ]),
      };
    },
  ],
  [
    3,
    (roll) => {
      const name = pick(roll, Object.keys(DOCUMENTS));
      const path = pick(roll, ["/graphql", "/graphql", "/graphql/stream"]);
      return {
        name: `${path}: ${name}`,
        method: "POST",
        path,
        headers: JSON_TYPE,
        body: Buffer.from(JSON.stringify({ query: DOCUMENTS[name]!(roll) })),
      };
    },
  ],
  [
    1,
    (roll, target) => {
      const { name, body } = documentOf(roll, target);
      const operations = Buffer.concat([
        Buffer.from('{"query":"mutation ($f: Upload!) { me { id } }","variables":{"f":null,"d":'),
        body.subarray(0, 900_000),
        Buffer.from("}}"),
      ]);
      const part = (field: string, content: Buffer) =>
        Buffer.concat([
          Buffer.from(`--b\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n`),
          content,
          Buffer.from("\r\n"),
        ]);
      return {
        name: `/graphql, multipart: ${name}`,
        method: "POST",
        path: "/graphql",
        headers: {
          "Content-Type": "multipart/form-data; boundary=b",
          "apollo-require-preflight": "1",
        },
        body: Buffer.concat([
          part("operations", operations),
          part("map", Buffer.from('{"0":["variables.f"]}')),
          Buffer.from("--b--\r\n"),
        ]),
      };
    },
  ],
  [
    1,
    (roll, target) => {
      const { name, body } = documentOf(roll, target);
      const part = Buffer.from(`--b\r\nContent-Disposition: form-data; name="download"\r\n\r\n`);
      return {
        name: `/register: ${name}`,
        method: "POST",
        path: "/register",
        headers: { "Content-Type": "multipart/form-data; boundary=b" },
        body: Buffer.concat([
          part,
          body,
          Buffer.from(
            '\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' +
              "abc\r\n--b--\r\n",
          ),
        ]),
      };
    },
  ],
  [
    1,
    (roll) => {
      const query = pick(roll, [
        `SELECT * { ${"{".repeat(500)} }`,
        `SELECT * { ?s ?p ${many(8_000, (index) => `"${index}"`).join(",")} }`,
        "#".repeat(9_000_000),
        `SELECT * { VALUES ?x { ${"1 ".repeat(20_000)} } }`,
      ]);
      const isForm = roll() < 0.5;
      return {
        name: "/sparql",
        method: "POST",
        path: "/sparql",
        headers: isForm ? FORM_TYPE : { "Content-Type": "application/sparql-query" },
        body: Buffer.from(
          isForm
            ? `${"default-graph-uri=x&".repeat(pick(roll, [1, 900, 100_000]))}query=${encodeURIComponent(query)}`
            : query,
        ),
      };
    },
  ],
  [
    4,
    (roll, { record }) => {
      const path = pick(roll, [
        `/dataset?${"keyword=a&".repeat(1_500)}`,
        `/dataset?keyword=${"%C3%A9".repeat(2_000)}`,
        "/dataset?limit=1000",
        "/dataset",
        `/dataset?name=${"%25".repeat(4_000)}`,
        `/search?query=${"a".repeat(8_000)}`,
        `/search?query=${many(1_500, (index) => `w${index}`).join("+")}`,
        `/${"ark:".repeat(3_000)}`,
        `/ark:99999/${"-".repeat(14_000)}`,
        `/ark:99999/${"%2D".repeat(4_500)}`,
        `/ark:99999/${"/.".repeat(7_000)}`,
        `/${record}?backlinks=${"e30".repeat(4_000)}`,
        `/${record}?${"a&".repeat(7_000)}`,
        `/graphql?query=${encodeURIComponent(`{ datasets { nodes { ${"name ".repeat(1_400)} } } }`)}`,
        `/graphql?query=%7Bme%7Bid%7D%7D&variables=${encodeURIComponent(`{"x":${"[".repeat(2_000)}${"]".repeat(2_000)}}`)}`,
        `/sparql?${"default-graph-uri=x&".repeat(700)}query=ASK%7B%7D`,
      ]);
      return { name: `GET ${path.slice(0, 30)}`, method: "GET", path, token: roll() < 0.5 };
    },
  ],
  [
    3,
    (roll, { record }) => {
      const [name, value] = pick(roll, [
        ["Accept", "a/b;q=0.1,".repeat(1_400)],
        ["Accept", "text/turtle;q=0.".padEnd(15_000, "1")],
        ["Accept-Language", "a,".repeat(7_000)],
        ["If-None-Match", '"1-0",'.repeat(2_400)],
        ["If-Match", '"1-0",'.repeat(2_400)],
        ["Range", `bytes=${"0-1,".repeat(3_500)}`],
        ["Cookie", "a=b;".repeat(3_500)],
        ["Authorization", `Bearer ${"a.".repeat(7_000)}`],
        ["Authorization", `Bearer ${"a".repeat(14_000)}`],
        ["X-Forwarded-For", "1.1.1.1,".repeat(1_800)],
        ["traceparent", "0".repeat(15_000)],
        ["Forwarded", "for=1;".repeat(2_500)],
      ] as const);
      return {
        name: `header ${name}`,
        method: "GET",
        path: `/${record}`,
        headers: { [name]: value },
        token: false,
      };
    },
  ],
  [
    1,
    (roll, target) => {
      const { name, body } = documentOf(roll, target);
      return {
        name: `a slow body: ${name}`,
        method: "POST",
        path: pick(roll, ["/dataset", "/graphql", "/validate", "/token"]),
        headers: JSON_TYPE,
        body,
        slow: true,
      };
    },
  ],
];
/** Forms with a file, for identifiers that are none. */
const FORMS: Entry = (roll) => {
  const ark = pick(roll, [
    "ark:0/0",
    "ark:99999/",
    `ark:99999/${"x".repeat(5_000)}`,
    "ark:99999/%00",
    "ark:99999/%ff",
    "ark:/",
  ]);
  const path = pick(roll, [
    `/schema/${ark}/validate`,
    `/datadownload/${ark}/upload`,
    `/rocrate/${ark}/validate`,
  ]);
  return {
    name: `a form: ${path.slice(0, 40)}`,
    method: "POST",
    path,
    headers: { "Content-Type": "multipart/form-data; boundary=b" },
    body: Buffer.from(
      '--b\r\nContent-Disposition: form-data; name="file"; filename="t.csv"\r\n\r\n' +
        `${"a,b\r\n".repeat(pick(roll, [1, 30_000]))}\r\n--b--\r\n`,
    ),
  };
};

const SOCKETS: Entry = (roll) => {
  const query = pick(roll, [
    "{ __typename }",
    "subscription { recordChanges { sequence } }",
    DOCUMENTS["introspection"]!(roll),
    DOCUMENTS["aliases within __schema"]!(roll),
    DOCUMENTS["aliases of documents"]!(roll),
  ]);
  const name = query.slice(0, 30);
  const count = query.length > 100 ? 20 : pick(roll, [150, 10_000]);
  return {
    name: `a WebSocket: ${name}`,
    method: "GET",
    path: "/graphql",
    messages: [
      '{"type":"connection_init"}',
      ...many(count, (id) =>
        JSON.stringify({ id: `${id}`, type: "subscribe", payload: { query } }),
      ),
    ],
  };
};

/** Of records with many relations, and with megabytes. */
const LARGE: Entry = (roll, { record, large = record }) => {
  const last = `${large}/${CHAIN}-${pick(roll, [10, 1_000])}`;
  const [path, Accept] = pick(roll, [
    [`/evidencegraph/impact/${large}/${SOURCE}`, "*/*"],
    [`/impact/${large}/${SOURCE}`, "text/html"],
    [`/evidencegraph/path/${last}?to=${large}/${CHAIN}-0`, "*/*"],
    [`/evidencegraph/query/${large}?format=turtle`, "*/*"],
    [`/evidencegraph/query/${large}?format=prov-json`, "*/*"],
    [`/evidencegraph/query/${large}/${SOURCE}?direction=downstream&statements=true`, "*/*"],
    [`/${large}`, "text/turtle"],
    [`/${large}`, "text/html"],
    [`/${large}/${FAT}`, "text/html"],
    [`/${large}/${FAT}`, "text/turtle"],
    ["/browse/dataset", "text/html"],
    ["/search?q=zebra", "text/html"],
    ["/dataset?limit=1000", "*/*"],
  ] as const);
  return {
    name: `large: ${path.replaceAll(large, "ark:…")} (${Accept})`,
    method: "GET",
    path,
    headers: { Accept },
    token: roll() < 0.5,
  };
};
const ALL: typeof ENTRIES = [...ENTRIES, [3, FORMS], [1, SOCKETS], [4, LARGE]];
const WEIGHT = ALL.reduce((sum, [weight]) => sum + weight, 0);

/**
 * Requests without an end: large, deep, wide, slow and repeated ones, through every interface, with
 * and without a token.
 */
export function* hostileRequests(seed: number, target: Target): Generator<HostileRequest> {
  const roll = dice(seed);
  for (;;) {
    let at = roll() * WEIGHT;
    const [, entry] = ALL.find(([weight]) => (at -= weight) < 0) ?? ALL[0]!;
    const { token = roll() < 0.7, headers = {}, ...request } = entry(roll, target);
    const whole = {
      ...request,
      headers: { ...(token ? { Authorization: `Bearer ${target.token}` } : {}), ...headers },
    };
    yield whole;
    // Some come again at once, the same to the byte.
    for (let again = roll() < 0.1 ? 3 : 0; again > 0; again--) yield whole;
  }
}
