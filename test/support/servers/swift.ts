import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePorts, startProgram, untilReady } from "./program.js";
import { findProgram } from "./programs.js";
import type { S3Server } from "./s3-server.js";

const NEEDED = [
  "swift-proxy-server",
  "swift-account-server",
  "swift-container-server",
  "swift-object-server",
  "memcached",
];
const missing = NEEDED.filter((name) => !findProgram(name));

/** Why there is no Swift; `undefined` when there is. */
export const swiftMissing =
  missing.length === 0
    ? undefined
    : `${missing.join(", ")} not installed (Debian: swift-proxy swift-account swift-container ` +
      "swift-object memcached)";

/** One device, one replica, of each kind of server. */
const RINGS =
  `
import sys
from swift.common.ring import RingBuilder
folder, *ports = sys.argv[1:]
for kind, port in zip(("account", "container", "object"), ports):
    ring = RingBuilder(4, 1, 0)
    ring.add_dev({"region": 1, "zone": 1, "ip": "127.0.0.1", "port": int(port), "device": ` +
  `"disk", "weight": 1.0})
    ring.rebalance()
    ring.get_ring().save(f"{folder}/{kind}.ring.gz")
`;

/**
 * OpenStack Swift with its s3api, as four servers and a memcached on free ports. The temporary
 * folder must be on a filesystem with extended attributes.
 */
export async function startSwift(): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), "arkgraph-swift-"));
  const [proxy, account, container, object, memcached] = await freePorts(5);
  await mkdir(join(folder, "devices/disk"), { recursive: true });
  const common = (port: number) => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = ${userInfo().username}
swift_dir = ${folder}
devices = ${folder}/devices
mount_check = false
log_level = ERROR
log_udp_host = 127.0.0.1
log_udp_port = 9
`;
  const backend = (kind: string, port: number) =>
    writeFile(
      join(folder, `${kind}.conf`),
      `${common(port)}
[pipeline:main]
pipeline = ${kind}-server
[app:${kind}-server]
use = egg:swift#${kind}
`,
    );
  const credentials = { accessKey: "arkgraph:tester", secretKey: "a-key-for-tests" };
  await writeFile(
    join(folder, "swift.conf"),
    "[swift-hash]\nswift_hash_path_suffix = arkgraph\nswift_hash_path_prefix = tests\n" +
      "[storage-policy:0]\nname = Policy-0\ndefault = yes\n",
  );
  await Promise.all([
    backend("account", account!),
    backend("container", container!),
    backend("object", object!),
    writeFile(
      join(folder, "proxy.conf"),
      `${common(proxy!)}
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth copy ` +
        `slo dlo versioned_writes symlink proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:${memcached}
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:tempauth]
use = egg:swift#tempauth
user_arkgraph_tester = ${credentials.secretKey} .admin
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
[filter:versioned_writes]
use = egg:swift#versioned_writes
allow_object_versioning = true
[filter:symlink]
use = egg:swift#symlink
`,
    ),
    promisify(execFile)("/usr/bin/python3", [
      "-c",
      RINGS,
      folder,
      String(account),
      String(container),
      String(object),
    ]),
  ]);
  const programs = [
    startProgram(
      findProgram("memcached")!,
      [
        "-l",
        "127.0.0.1",
        "-p",
        String(memcached),
        "-U",
        "0",
        "-m",
        "16",
        ...(userInfo().uid === 0 ? ["-u", "root"] : []),
      ],
      { cwd: folder },
    ),
    ...(["account", "container", "object", "proxy"] as const).map((kind) =>
      startProgram(findProgram(`swift-${kind}-server`)!, [join(folder, `${kind}.conf`)], {
        cwd: folder,
      }),
    ),
  ];
  const endpoint = `http://127.0.0.1:${proxy}`;
  const answers = async (port: number) =>
    (await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(2000) })).status > 0;
  try {
    await untilReady(programs, async () =>
      (await Promise.all([account!, container!, object!, proxy!].map(answers))).every(Boolean),
    );
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    make: "Swift",
    endpoint,
    ...credentials,
    region: "us-east-1",
    async stop() {
      await Promise.all(programs.map((program) => program.stop()));
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
