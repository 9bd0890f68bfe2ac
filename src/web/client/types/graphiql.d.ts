// The little of these packages that the explorer calls; React's own types are not installed.
declare module "react" {
  export function createElement(type: unknown, properties: object): unknown;
}

declare module "react-dom/client" {
  export function createRoot(element: Element): { render(element: unknown): void };
}

declare module "graphiql" {
  export const GraphiQL: unknown;
}
