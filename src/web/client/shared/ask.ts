// Asks the GraphQL interface of the registry, with the rights of the reader.

const csrf = document.querySelector<HTMLMetaElement>("meta[name=csrf]")?.content ?? "";

/** The data of the answer; undefined where there is none. */
export async function ask<Data>(query: string, variables: object): Promise<Data | undefined> {
  const response = await fetch("/graphql", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
    body: JSON.stringify({ query, variables }),
  });
  const { data } = (await response.json()) as { data?: Data };
  return data;
}
