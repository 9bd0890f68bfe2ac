import { mkdtemp } from "node:fs/promises";
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { join } from "node:path";
import type { S3Location } from "../../src/storage/objects/s3/location.js";
import { newBucket, S3_MAKES } from "./servers/s3-makes.js";
import { startMinio } from "./servers/minio.js";
import { OXIGRAPH } from "./servers/oxigraph.js";
import { hasPostgres, PostgresServer } from "./servers/postgres.js";
import { RedisServer, redisInstalled } from "./servers/redis.js";
import type { S3Server } from "./servers/s3-server.js";
import { SparqlServer } from "./servers/sparql-server.js";
import { RegistryClient } from "./registry-client.js";
import { RegistryProcess } from "./registry-process.js";

const S3 = S3_MAKES.find(({ missing }) => missing === undefined);
/** The programs that a cluster needs and that are not installed here. */
const MISSING = [
  hasPostgres ? [] : ["PostgreSQL"],
  redisInstalled ? [] : ["Redis"],
  S3 ? [] : ["an S3 server"],
  new SparqlServer(OXIGRAPH).installed ? [] : ["Oxigraph's server"],
].flat();
/** False, with a warning, where the servers of a cluster are not all installed. */
export const clusterInstalled: boolean = MISSING.length === 0;
if (!clusterInstalled)
  process.stderr.write(`SKIPPED: tests of a whole cluster; not installed: ${MISSING.join(", ")}\n`);

/**
 * Folders on the disks that servers are to write to; by default all use the one that temporary
 * files are on.
 */
export interface ServerDisks {
  tables?: string;
  log?: string;
  objects?: string;
  queue?: string;
  /** Holds the data folder of each node. */
  nodes?: string;
}
export interface TopologyOptions {
  apis?: number;
  workers?: number;
  /** Settings of every node, which may depend on where the servers are. */
  env?: Record<string, string> | ((servers: SharedServers) => Promise<Record<string, string>>);
  disks?: ServerDisks;
}

/** The stores that nodes share, each a real server of its own. */
export class SharedServers {
  private constructor(
    readonly postgres: PostgresServer,
    readonly redis: RedisServer,
    readonly s3: S3Server,
    readonly sparql: SparqlServer,
    readonly location: S3Location,
    readonly env: Readonly<Record<string, string>>,
  ) {}

  static async start({ tables, log, objects, queue }: ServerDisks = {}): Promise<SharedServers> {
    const [postgres, redis, s3, sparql] = await Promise.all([
      PostgresServer.start(log === undefined ? [] : ["min_wal_size=32MB", "max_wal_size=48MB"], {
        ...(tables !== undefined && { data: tables }),
        ...(log !== undefined && { log }),
      }),
      RedisServer.start({
        persistent: true,
        ...(queue !== undefined && { disk: queue, fsync: "everysec" }),
      }),
      objects === undefined ? S3!.start() : startMinio({ folder: objects }),
      new SparqlServer(OXIGRAPH).start(),
    ]);
    const location = await newBucket(s3);
    const { endpoint, accessKey, secretKey, region, bucket } = location;
    return new SharedServers(postgres, redis, s3, sparql, location, {
      PROFILE: "cluster",
      JWT_SECRET: "a key for tokens that only tests ever use",
      DATABASE_URL: await postgres.database(),
      REDIS_URL: redis.url,
      S3_ENDPOINT: endpoint,
      S3_ACCESS_KEY: accessKey,
      S3_SECRET_KEY: secretKey,
      S3_REGION: region,
      S3_BUCKET: bucket,
      SPARQL_QUERY_URL: sparql.queryUrl,
      SPARQL_UPDATE_URL: sparql.updateUrl,
    });
  }

  async stop(): Promise<void> {
    await Promise.all([
      this.postgres.stop(),
      this.redis.stop(),
      this.s3.stop(),
      this.sparql.stop(),
    ]);
  }
}

/** Several nodes over shared stores, behind one address that distributes requests round-robin. */
export class Topology extends RegistryClient {
  readonly #balancer: Server;

  private constructor(
    url: string,
    readonly servers: SharedServers,
    readonly apis: RegistryProcess[],
    readonly workers: RegistryProcess[],
    balancer: Server,
  ) {
    super(url);
    this.#balancer = balancer;
  }

  static async start({
    apis = 2,
    workers = 2,
    env = {},
    disks = {},
  }: TopologyOptions = {}): Promise<Topology> {
    const servers = await SharedServers.start(disks);
    const settings = typeof env === "function" ? await env(servers) : env;
    const balancer = await listening();
    // Longer than any client holds a connection: one that closes under a request would be taken for
    // a fault.
    balancer.keepAliveTimeout = 120_000;
    const url = `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`;
    const node = async (role: string) =>
      RegistryProcess.start({
        ...(disks.nodes !== undefined && {
          dataDir: await mkdtemp(join(disks.nodes, `${role}-`)),
        }),
        env: { ...servers.env, ROLE: role, BASE_URL: url, ...settings },
      });
    const starts = await Promise.allSettled([
      ...Array.from({ length: apis }, () => node("api")),
      ...Array.from({ length: workers }, () => node("worker")),
    ]);
    const nodes = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
    const failed = starts.find((start) => start.status === "rejected");
    if (failed) {
      balancer.close();
      await Promise.allSettled(nodes.map((each) => each.stop()));
      await servers.stop();
      throw failed.reason;
    }
    const topology = new Topology(url, servers, nodes.slice(0, apis), nodes.slice(apis), balancer);
    balance(balancer, () =>
      topology.apis.filter(({ alive }) => alive).map((api) => Number(new URL(api.url).port)),
    );
    return topology;
  }

  get alive(): boolean {
    return [...this.apis, ...this.workers].every(({ alive }) => alive);
  }

  get log(): string {
    return [...this.apis, ...this.workers].map(({ log }) => log).join("\n");
  }

  /** Files of half-received uploads on every node; none may outlive its request. */
  async staging(): Promise<string[]> {
    const nodes = [...this.apis, ...this.workers].filter(({ alive }) => alive);
    return (await Promise.all(nodes.map((node) => node.staging()))).flat();
  }

  /** Adds a worker. */
  async addWorker(env: Record<string, string> = {}): Promise<RegistryProcess> {
    const worker = await RegistryProcess.start({
      env: { ...this.servers.env, ROLE: "worker", BASE_URL: this.url, ...env },
    });
    this.workers.push(worker);
    return worker;
  }

  /** Ends the nodes as an operator would, then the servers. @throws when a node did not end well */
  async stop(): Promise<void> {
    this.#balancer.closeAllConnections();
    this.#balancer.close();
    const ends = await Promise.allSettled(
      [...this.apis, ...this.workers].map((node) => node.stop()),
    );
    await this.servers.stop();
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }
}

function listening(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => resolve(server));
  });
}

/** Hands each request to the next node that is alive, as it comes and as it is answered. */
function balance(server: Server, ports: () => number[]): void {
  let round = 0;
  const next = (): number | undefined => {
    const alive = ports();
    return alive[round++ % alive.length];
  };
  const headersOf = ({ rawHeaders }: IncomingMessage): string[] => rawHeaders;
  server.on("request", (req, res) => {
    const port = next();
    if (port === undefined) return void res.writeHead(502).end();
    const forwarded = request(
      {
        host: "127.0.0.1",
        port,
        method: req.method,
        path: req.url,
        headers: headersOf(req) as never,
        agent: false,
      },
      (answer) => {
        res.writeHead(answer.statusCode!, headersOf(answer));
        answer.pipe(res);
        answer.on("error", () => res.destroy());
      },
    );
    forwarded.on("error", () => res.destroy());
    res.on("close", () => forwarded.destroy());
    req.pipe(forwarded);
  });
  server.on("upgrade", (req, socket, head) => {
    const port = next();
    if (port === undefined) return void socket.destroy();
    const forwarded = connect(port, "127.0.0.1", () => {
      const lines = [];
      for (let at = 0; at < req.rawHeaders.length; at += 2)
        lines.push(`${req.rawHeaders[at]}: ${req.rawHeaders[at + 1]}`);
      forwarded.write(`${req.method} ${req.url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
      forwarded.write(head);
      forwarded.pipe(socket).pipe(forwarded);
    });
    for (const end of [socket, forwarded])
      end.on("error", () => [socket, forwarded].forEach((each) => each.destroy()));
  });
}
