import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import type { Certificate } from "../certificate.js";
import { freePort, startProgram, untilReady, type Program } from "./program.js";

/**
 * nginx in front of an HTTP server: TLS with a certificate of the test, and a password by HTTP
 * Basic authentication.
 */
export class TlsFront {
  readonly #folder: string;
  readonly #program: Program;

  private constructor(
    readonly url: string,
    folder: string,
    program: Program,
  ) {
    this.#folder = folder;
    this.#program = program;
  }

  /** @param upstream address without a slash at the end */
  static async start(
    nginx: string,
    upstream: string,
    { key, file }: Certificate,
    user: string,
    password: string,
  ): Promise<TlsFront> {
    const folder = await mkdtemp(join(tmpdir(), "arkgraph-front-"));
    const port = await freePort();
    const at = (name: string): string => join(folder, name);
    await writeFile(
      at("users"),
      `${user}:${execFileSync("openssl", ["passwd", "-apr1", "-stdin"], { input: password, encoding: "utf8" })}`,
    );
    await writeFile(
      at("nginx.conf"),
      `user ${userInfo().username}; daemon off; pid ${at("pid")}; error_log stderr; worker_processes 1;
events {}
http {
  access_log off; client_max_body_size 0;
  client_body_temp_path ${at("body")}; proxy_temp_path ${at("proxy")}; fastcgi_temp_path ` +
        `${at("fastcgi")}; uwsgi_temp_path ${at("uwsgi")}; scgi_temp_path ${at("scgi")};
  server {
    listen 127.0.0.1:${port} ssl; ssl_certificate ${file}; ssl_certificate_key ${key};
    location / { auth_basic "index"; auth_basic_user_file ${at("users")}; proxy_pass ` +
        `${upstream}; }
  }
}
`,
    );
    const program = startProgram(nginx, ["-p", folder, "-e", "stderr", "-c", at("nginx.conf")]);
    // Plain HTTP on a port for TLS is answered 400.
    await untilReady(
      [program],
      async () => (await fetch(`http://127.0.0.1:${port}/`)).status === 400,
    );
    return new TlsFront(`https://127.0.0.1:${port}`, folder, program);
  }

  async stop(): Promise<void> {
    await this.#program.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
