/** The part of autocannon that the benches use; the package ships no types. */
declare module "autocannon" {
  interface Client {
    setRequests(requests: { path: string }[]): void;
  }
  interface Options {
    url: string;
    connections: number;
    /** Seconds. */
    duration: number;
    /** ms between samples; a run ends on one. */
    sampleInt: number;
    method: string;
    headers: Record<string, string>;
    body?: string;
    setupClient?(client: Client): void;
  }
  interface Result {
    "2xx": number;
    non2xx: number;
    errors: number;
    timeouts: number;
    /** Seconds. */
    duration: number;
  }
  export default function autocannon(options: Options): Promise<Result>;
}
