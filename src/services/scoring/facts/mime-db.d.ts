declare module "mime-db" {
  /** Media types in lower case; `source` is `iana` for those that IANA has registered. */
  const types: Readonly<
    Record<string, { source?: "iana" | "apache" | "nginx"; extensions?: readonly string[] }>
  >;
  export default types;
}
