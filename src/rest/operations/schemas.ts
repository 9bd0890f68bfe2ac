import { SchemaResolver } from "../../resolvers/schema-resolver.js";
import { takeFile } from "../multipart.js";
import { sendJson } from "../reply.js";
import { arkOf, type Operations } from "../request.js";

const schemas = new SchemaResolver();

export const schemaOperations: Operations = {
  validate_table: async (request) => {
    const { req, res, context } = request;
    sendJson(req, res, await takeFile(req, ["file"], (file) => schemas.check(arkOf(request), file, context)));
  },
};
