import { ValidationError } from "../../errors.js";
import { pointerSegments } from "../../model/json/json-refusal.js";
import { CratePlanResolver } from "../../resolvers/crate-plan-resolver.js";
import { authenticated } from "../../use-cases/access/caller.js";
import { bodyStream, hasBody, mediaType } from "../body.js";
import { takeFile } from "../multipart.js";
import { presence } from "../presence.js";
import { sendJson } from "../reply.js";
import type { Operations } from "../request.js";
import { FIELDS, answerCrate, uploadOptions } from "./crates.js";

const plans = new CratePlanResolver();

const noBody = () => new ValidationError([{ loc: ["body"], msg: "Field required", type: "missing" }]);

export const cratePlanOperations: Operations = {
  validate_crate: async (request) => {
    const { req, res, context } = request;
    authenticated(context.caller);
    if (!hasBody(req)) throw noBody();
    const signal = presence(request);
    const options = uploadOptions(request.query);
    const plan = mediaType(req) === "multipart/form-data"
      ? await takeFile(req, FIELDS, (file) => plans.plan(file, options, context, signal))
      : await plans.plan({ stream: bodyStream(req), name: "", mediaType: mediaType(req) }, options, context, signal);
    sendJson(req, res, plan, { headers: { "Cache-Control": "no-store" } });
  },
  create_crate_metadata: async (request) => {
    const { req, context } = request;
    authenticated(context.caller);
    if (!hasBody(req)) throw noBody();
    const submitted = await plans.submitMetadata(bodyStream(req), uploadOptions(request.query), context);
    await answerCrate(request, submitted, ({ pointer }) => ["body", ...pointerSegments(pointer ?? "")]);
  },
};
