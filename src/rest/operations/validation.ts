import { ValidationResolver } from "../../resolvers/validation-resolver.js";
import { readJsonBytes } from "../body.js";
import { presence } from "../presence.js";
import { sendBytes, sendJson } from "../reply.js";
import { preferred } from "../representations/negotiate.js";
import { shapeReportTurtle } from "../representations/shape-report.js";
import type { Operations } from "../request.js";

const validation = new ValidationResolver();
const HEADERS = { "Cache-Control": "no-store", Vary: "Accept" };

export const validationOperations: Operations = {
  validate: async (request) => {
    const { req, res, query, context } = request;
    const type = preferred(req.headers.accept, ["application/json", "text/turtle"]);
    const report = await validation.validate(await readJsonBytes(req, context.deps.config), query["kind"], context, presence(request));
    if (type === "text/turtle") sendBytes(req, res, Buffer.from(shapeReportTurtle(report)), { type: "text/turtle; charset=utf-8", headers: HEADERS });
    else sendJson(req, res, report, { headers: HEADERS });
  },
};
