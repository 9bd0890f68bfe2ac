import { ComputationResolver } from "../../resolvers/computation-resolver.js";
import { arkOf, type Operations } from "../request.js";

const computations = new ComputationResolver();

export const computationOperations: Operations = {
  execute_computation: async (request) => computations.execute(arkOf(request), request.context),
};
