import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import express, { Router, type RequestHandler } from "express";
import { packageRoot } from "../package-root.js";
import { EXPLORER_FOLDER } from "./graphql-page.js";

/** The pages' own files, and those of Swagger UI, from this package's folders. */
export function assets(): RequestHandler {
  const swagger = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  const router = Router();
  const options = { index: false, redirect: false, maxAge: "1h", setHeaders: (res: { setHeader(name: string, value: string): void }) => res.setHeader("X-Content-Type-Options", "nosniff") };
  router.use("/swagger-ui", express.static(swagger, options));
  router.use("/graphiql", express.static(EXPLORER_FOLDER, options));
  router.use(express.static(join(packageRoot, "src", "web", "assets"), options));
  return router;
}
