/** `target` with some methods replaced. All run with `target` as `this`: it has private fields. */
export const overlay = <T extends object>(target: T, replaced: Partial<T>): T =>
  new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(Object.hasOwn(replaced, name) ? replaced : target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
