import { ValidationError } from "../errors.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { CrateResolver, METADATA } from "../graphql/resolvers/crate-resolver.js";
import { bodyStream, hasBody, mediaType, takeFile } from "../http/body.js";
import { sendJson } from "../http/reply.js";
import { pointerSegments } from "../model/json/read.js";
import { planUpload } from "../services/crates/plan.js";
import type { IncomingFile } from "../services/records/stored-content.js";
import { answerCrate, FIELDS, uploadOptions } from "./crates.js";
import { type Handlers, presence } from "./request.js";

const crates = new CrateResolver();

const noBody = () =>
  new ValidationError([{ loc: ["body"], msg: "Field required", type: "missing" }]);

export const cratePlanOperations: Handlers = {
  validate_crate: async (request) => {
    const { req, res } = request;
    const { deps, caller } = signedIn(request.context);
    if (!hasBody(req)) throw noBody();
    const signal = presence(request);
    const options = uploadOptions(request.query);
    const plan = (file: IncomingFile) => planUpload(deps, caller, file, options, signal);
    const planned =
      mediaType(req) === "multipart/form-data"
        ? await takeFile(req, FIELDS, plan)
        : await plan({ stream: bodyStream(req), name: "", mediaType: mediaType(req) });
    sendJson(req, res, planned, { headers: { "Cache-Control": "no-store" } });
  },
  create_crate_metadata: async (request) => {
    const { req } = request;
    const context = signedIn(request.context);
    if (!hasBody(req)) throw noBody();
    const submitted = await crates.submit(
      { stream: bodyStream(req), name: METADATA, format: "metadata" },
      uploadOptions(request.query),
      context,
    );
    await answerCrate(request, submitted, ({ pointer }) => [
      "body",
      ...pointerSegments(pointer ?? ""),
    ]);
  },
};
