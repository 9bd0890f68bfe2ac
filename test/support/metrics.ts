import type { LiveRegistry } from "./live-registry.js";

/** The answer of `GET /metrics` of a registry. */
export const scrape = async ({ running }: LiveRegistry): Promise<string> =>
  (await fetch(`${running.metricsUrl}/metrics`)).text();

/** The value of a series in an answer; NaN where it has none. */
export const seriesValue = (text: string, series: string): number =>
  Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${series} `))
      ?.split(" ")[1],
  );
