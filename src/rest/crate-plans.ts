import { ValidationError } from "../errors.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { CratePlanResolver, CrateResolver, METADATA } from "../graphql/resolvers/crate-resolver.js";
import { bodyStream, hasBody, mediaType, takeFile } from "../http/body.js";
import { sendJson } from "../http/reply.js";
import { pointerSegments } from "../model/json/read.js";
import { answerCrate, FIELDS, uploadOptions } from "./crates.js";
import { type Handlers, presence } from "./request.js";

const plans = new CratePlanResolver();
const crates = new CrateResolver();

const noBody = () =>
  new ValidationError([{ loc: ["body"], msg: "Field required", type: "missing" }]);

export const cratePlanOperations: Handlers = {
  validate_crate: async (request) => {
    const { req, res } = request;
    const context = signedIn(request.context);
    if (!hasBody(req)) throw noBody();
    const signal = presence(request);
    const options = uploadOptions(request.query);
    const plan =
      mediaType(req) === "multipart/form-data"
        ? await takeFile(req, FIELDS, (file) => plans.plan(file, options, context, signal))
        : await plans.plan(
            { stream: bodyStream(req), name: "", mediaType: mediaType(req) },
            options,
            context,
            signal,
          );
    sendJson(req, res, plan, { headers: { "Cache-Control": "no-store" } });
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
