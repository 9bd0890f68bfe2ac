/**
 * Whether a value is a multiple of a divisor, in decimals: 0.3 is a multiple of 0.1, though the doubles nearest
 * to them do not divide evenly.
 */
export function isMultiple(value: number | bigint, divisor: number): boolean {
  if (typeof value === "number" && Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const [top, topScale] = decimal(value);
  const [bottom, bottomScale] = decimal(divisor);
  const scale = Math.max(topScale, bottomScale);
  return (top * 10n ** BigInt(scale - topScale)) % (bottom * 10n ** BigInt(scale - bottomScale)) === 0n;
}

/** Digits and how many of them are decimals; negative for trailing zeros. At most 309 + 324 digits result. */
function decimal(value: number | bigint): [digits: bigint, scale: number] {
  if (typeof value === "bigint") return [value, 0];
  const [mantissa, exponent] = value.toExponential().split("e") as [string, string];
  const [whole, fraction = ""] = mantissa.split(".") as [string, string?];
  return [BigInt(whole + fraction), fraction.length - Number(exponent)];
}
