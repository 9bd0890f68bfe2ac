import type { ApolloServerPlugin } from "@apollo/server";
import { GraphQLError, Kind, getArgumentValues, getNamedType, isInterfaceType, isObjectType, type FragmentDefinitionNode, type GraphQLNamedType, type GraphQLSchema, type SelectionSetNode } from "graphql";
import type { Config } from "../config.js";
import type { Context } from "../resolvers/context.js";

/** What a page has when a field does not say: the default of `first`. */
const PAGE = 100;

/**
 * Refuses an operation that asks for more records than GRAPHQL_MAX_COST, before anything is read: pages inside
 * of pages multiply.
 */
export function costLimit({ GRAPHQL_MAX_COST }: Pick<Config, "GRAPHQL_MAX_COST">): ApolloServerPlugin<Context> {
  return {
    async requestDidStart() {
      return {
        async didResolveOperation({ schema, document, operation, request }) {
          const fragments = new Map(document.definitions.flatMap((definition) => (definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [])));
          if (!operation) return;
          const cost = new Cost(schema, fragments, request.variables ?? {}).of(operation.selectionSet, schema.getRootType(operation.operation) ?? undefined);
          if (cost <= GRAPHQL_MAX_COST) return;
          throw new GraphQLError(`The operation asks for up to ${cost} records; at most ${GRAPHQL_MAX_COST} are answered (GRAPHQL_MAX_COST). Ask for smaller pages with first.`, { extensions: { code: "BAD_REQUEST", http: { status: 400 } } });
        },
      };
    },
  };
}

class Cost {
  private readonly known = new Map<string, number>();
  constructor(private readonly schema: GraphQLSchema, private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>, private readonly variables: Record<string, unknown>) {}

  /** Records that a selection on one object may lead to. */
  of(set: SelectionSetNode, type: GraphQLNamedType | undefined): number {
    let sum = 0;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) sum += this.fragment(selection.name.value);
      else if (selection.kind === Kind.INLINE_FRAGMENT) sum += this.of(selection.selectionSet, selection.typeCondition ? this.schema.getType(selection.typeCondition.name.value) : type);
      else {
        const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[selection.name.value] : undefined;
        if (!field || !selection.selectionSet) continue;
        const named = getNamedType(field.type);
        const inside = this.of(selection.selectionSet, named) + (this.isRecord(named) ? 1 : 0);
        if (!field.args.some(({ name }) => name === "first")) sum += inside;
        else {
          const { first } = getArgumentValues(field, selection, this.variables) as { first?: number | null };
          sum += Math.max(first ?? PAGE, 1) * Math.max(inside, 1);
        }
      }
    }
    return sum;
  }

  private fragment(name: string): number {
    const fragment = this.fragments.get(name);
    if (!fragment) return 0;
    let cost = this.known.get(name);
    if (cost === undefined) this.known.set(name, (cost = this.of(fragment.selectionSet, this.schema.getType(fragment.typeCondition.name.value))));
    return cost;
  }

  private isRecord(type: GraphQLNamedType): boolean {
    return type.name === "Record" || type.name === "Node" || (isObjectType(type) && type.getInterfaces().some(({ name }) => name === "Record"));
  }
}
