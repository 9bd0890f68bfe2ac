import { BOUNDS } from "../../src/config/bounds.js";
import { type Config, readConfig } from "../../src/config/config.js";
import { duration, size } from "../../src/config/setting-values.js";

/** As {@link readConfig}, but a bound may be lowered or raised too, written as a setting. */
export function configWithBounds(given: Readonly<Record<string, string>>): Config {
  const settings = Object.entries(given).filter(([name]) => !(name in BOUNDS));
  const bounds = Object.entries(BOUNDS).flatMap(([name, { unit }]) =>
    given[name] === undefined
      ? []
      : [[name, { bytes: size, ms: duration, count: Number }[unit](given[name])]],
  );
  return { ...readConfig(Object.fromEntries(settings)), ...Object.fromEntries(bounds) };
}
