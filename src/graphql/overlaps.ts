import { Kind, type DocumentNode, type FieldNode, type SelectionSetNode } from "graphql";

/** Pairs of selections of one answer field that the validation may have to compare: a hundred of each other. */
export const MAX_PAIRS = 5_000;
/** Aliases of one field without arguments in one place. */
const MAX_NAMES = 4;
/** Selections that are looked at, those of fragments at each place: past that the document repeats itself. */
const MAX_SELECTIONS = 10_000;

/**
 * Whether a document selects so many fields into the same place of the answer that comparing each two of them,
 * which the validation does to see whether they can be merged, takes long. Fragments count at each place where they
 * are spread, and each on its own; aliases and the depth were counted before.
 */
export function repeatsItself(document: DocumentNode): boolean {
  const fragments = new Map(document.definitions.flatMap((definition) => (definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition.selectionSet] as const] : [])));
  const walk = new Walk(fragments);
  return document.definitions.some((definition, index) => "selectionSet" in definition && walk.exceeds(definition.selectionSet, `${index}`));
}

class Walk {
  /** Selections by their place in the answer. */
  private readonly times = new Map<string, number>();
  /** Aliases of a field without arguments, by its place. */
  private readonly aliases = new Map<string, Set<string>>();
  private readonly inside = new Set<string>();
  private pairs = 0;
  private selections = 0;

  constructor(private readonly fragments: ReadonlyMap<string, SelectionSetNode>) {}

  exceeds(set: SelectionSetNode, place: string): boolean {
    return set.selections.some((selection) => {
      if (++this.selections > MAX_SELECTIONS) return true;
      if (selection.kind === Kind.INLINE_FRAGMENT) return this.exceeds(selection.selectionSet, place);
      if (selection.kind === Kind.FRAGMENT_SPREAD) return this.repeated(`${place} ...`) || this.fragmentExceeds(selection.name.value, place);
      const field = `${place} ${(selection.alias ?? selection.name).value}`;
      return this.repeated(field) || this.renamed(selection, place) || (selection.selectionSet !== undefined && this.exceeds(selection.selectionSet, field));
    });
  }

  private fragmentExceeds(name: string, place: string): boolean {
    const set = this.fragments.get(name);
    // A cycle is refused by the validation.
    if (!set || this.inside.has(name)) return false;
    this.inside.add(name);
    const exceeds = this.exceeds(set, place);
    this.inside.delete(name);
    return exceeds;
  }

  /** A field without arguments says the same under each alias, and may be megabytes. */
  private renamed({ alias, name, arguments: given }: FieldNode, place: string): boolean {
    if (!alias || (given?.length ?? 0) > 0 || name.value.startsWith("__")) return false;
    const times = (this.aliases.get(`${place} ${name.value}`) ?? new Set()).add(alias.value);
    this.aliases.set(`${place} ${name.value}`, times);
    return times.size > MAX_NAMES;
  }

  private repeated(place: string): boolean {
    const before = this.times.get(place) ?? 0;
    this.times.set(place, before + 1);
    return (this.pairs += before) > MAX_PAIRS;
  }
}
