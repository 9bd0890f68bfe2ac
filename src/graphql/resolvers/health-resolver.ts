import { Ctx, Field, Int, ObjectType, Query, Resolver } from "type-graphql";
import { health, readiness } from "../../services/health.js";
import type { Context } from "./context.js";
import { HealthStateEnum } from "./types/enums.js";

@ObjectType("HealthCheck", {
  description: "State of one part of the service.",
  simpleResolvers: true,
})
class HealthCheckType {
  @Field({ description: "A part of the service: records, index, objects, jobs and others." })
  part!: string;
  @Field(() => HealthStateEnum, { description: "Its state." }) state!: string;
}
@ObjectType("Health", { description: "State of the node that answers.", simpleResolvers: true })
class HealthType {
  @Field({ description: "Every part that the service cannot do without works." })
  ok!: boolean;
  @Field({ description: "The node can answer requests." }) ready!: boolean;
  @Field(() => [HealthCheckType], { description: "States of the parts." })
  checks!: HealthCheckType[];
  @Field(() => Int, {
    nullable: true,
    description:
      "Commits that the graph index has yet to apply; null when the record store does not answer.",
  })
  lag!: number | null;
}

@Resolver()
export class HealthResolver {
  @Query(() => HealthType, { name: "health", description: "State of the node that answers." })
  async health(@Ctx() { deps }: Context): Promise<HealthType> {
    const [state, { status }] = await Promise.all([health(deps), readiness(deps)]);
    return {
      ok: state.status === "healthy",
      ready: status === "ready",
      checks: Object.entries(state.checks).map(([part, check]) => ({ part, state: check })),
      lag: state.lag,
    };
  }
}
