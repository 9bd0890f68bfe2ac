// Throws values of every sort at a connection. Runs by itself, because an unguarded one would end the process.
import * as fc from "fast-check";
import { Connection } from "../../../../dist/src/storage/records/sqlite/statement.js";
import { StatementError } from "../../../../dist/src/storage/records/sqlite/statement.js";

const connection = new Connection(process.argv[2]);
connection.exec("CREATE TABLE t (a)");
const echo = connection.prepare("SELECT ?");
const insert = connection.prepare("INSERT INTO t VALUES (?)");
let refused = 0;
let accepted = 0;
const wrong = [];

function attempt(what, use) {
  try {
    use();
    accepted++;
  } catch (error) {
    if (error instanceof StatementError) refused++;
    else wrong.push(`${what}: ${error?.stack ?? error}`);
  }
}

const storable = (value) =>
  value === null ||
  (typeof value === "string" && value.isWellFormed() && !value.includes("\0")) ||
  (typeof value === "number" &&
    Number.isFinite(value) &&
    (!Number.isInteger(value) || Number.isSafeInteger(value))) ||
  (typeof value === "bigint" && BigInt.asIntN(64, value) === value) ||
  (value instanceof Uint8Array && value.buffer instanceof ArrayBuffer);

function one(value) {
  const before = refused;
  attempt("get", () => echo.get([value]));
  if ((refused === before) !== storable(value))
    wrong.push(
      `${typeof value} ${String(value?.constructor?.name)} was ${refused === before ? "accepted" : "refused"}`,
    );
  attempt("put", () => insert.put([value]));
  attempt("all", () => echo.all([value]));
  // In place of the array, and in place of SQL.
  for (const use of [
    () => echo.get(value),
    () => echo.all(value),
    () => insert.run(value),
    () => echo.get([value, value]),
    () => [...echo.iterate(value)],
  ])
    attempt("parameters", use);
  if (typeof value !== "string")
    for (const use of [
      () => connection.prepare(value),
      () => connection.exec(value),
      () => new Connection(value).close(),
    ])
      attempt("sql", use);
}

class Sub extends Array {}
const lying = new Proxy([1], {
  get: (target, key) => (key === "length" ? 5 : Reflect.get(target, key)),
});
const special = [
  undefined,
  null,
  true,
  false,
  NaN,
  Infinity,
  -Infinity,
  -0,
  2 ** 53,
  -(2 ** 53),
  1e300,
  2n ** 63n,
  2n ** 63n - 1n,
  -(2n ** 63n),
  -(2n ** 63n) - 1n,
  "",
  "\0",
  "a\0b",
  "\ud800",
  "\udc00x",
  "😀",
  {},
  { a: 1 },
  [],
  [[]],
  [1],
  Symbol("s"),
  () => 1,
  class {
    a = 1;
  },
  new Date(),
  /x/,
  new Map(),
  new Set(),
  new Error("e"),
  Promise.resolve(),
  Buffer.from("x"),
  Buffer.alloc(0),
  new Uint8Array(3),
  new Uint8Array(new SharedArrayBuffer(3)),
  new Uint16Array(2),
  new Float64Array(1),
  new ArrayBuffer(2),
  new DataView(new ArrayBuffer(2)),
  new String("s"),
  new Number(1),
  new Boolean(true),
  Object.create(null),
  new Proxy({}, {}),
  new Proxy([1], {}),
  lying,
  Sub.from([1]),
  Object.assign([1], { extra: true }),
  Object.assign([], { length: 1 }),
  Object.assign([], { length: 3 }),
  { length: 1, 0: "x" },
  { [["t", "hen"].join("")]: () => {} },
  { toString: () => "x" },
  {
    valueOf() {
      throw new RangeError("no");
    },
  },
  globalThis,
  process,
];
for (const value of special) one(value);
fc.assert(
  fc.property(
    fc.oneof(
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withSet: true,
        withTypedArray: true,
        withSparseArray: true,
        withNullPrototype: true,
        withObjectString: true,
      }),
      fc.string({ unit: "binary" }),
      fc.string({
        unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
      }),
      fc.double(),
      fc.bigInt(),
    ),
    (value) => one(value),
  ),
  { numRuns: 400 },
);

// What was stored can be read (integers beyond 2^53 as the nearest number), and the connection still works.
for (const [value] of connection.prepare("SELECT a FROM t").iterate())
  if (!storable(value) && !Number.isInteger(value)) wrong.push("stored something strange");
connection.close();
process.stdout.write(JSON.stringify({ refused, accepted, wrong: wrong.slice(0, 20) }));
