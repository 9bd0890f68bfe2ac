import { InvalidArgumentError } from "commander";

// What the option parser refuses ends with status 2.

/** `true/false`, `t/f`, `yes/no`, `y/n`, `on/off`, `1/0`, in any case. */
export function booleanValue(text: string): boolean {
  const word = text.toLowerCase();
  if (["true", "t", "yes", "y", "on", "1"].includes(word)) return true;
  if (["false", "f", "no", "n", "off", "0"].includes(word)) return false;
  throw new InvalidArgumentError("Give true or false.");
}

export function numberValue(text: string): number {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) || !Number.isFinite(Number(text))) throw new InvalidArgumentError("Give a number.");
  return Number(text);
}

export function countValue(text: string): number {
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(Number(text))) throw new InvalidArgumentError("Give a whole number from 0.");
  return Number(text);
}

export function positiveValue(text: string): number {
  const value = countValue(text);
  if (value === 0) throw new InvalidArgumentError("Give a whole number from 1.");
  return value;
}

/** Bytes, with K, M or G for powers of 1024: `64M`. */
export function sizeValue(text: string): number {
  const match = /^(\d+)\s*([KMG]?)(?:i?B)?$/i.exec(text);
  const size = match ? Number(match[1]) * 1024 ** ["", "K", "M", "G"].indexOf(match[2]!.toUpperCase()) : 0;
  if (size < 1 || size > 1 << 30) throw new InvalidArgumentError("Give a size from 1 to 1G, e.g. 64M.");
  return size;
}

/** A label of the Encoding standard: `latin1`, `windows-1252`, `utf-16le`. */
export function encodingValue(text: string): string {
  try {
    return new TextDecoder(text).encoding;
  } catch {
    throw new InvalidArgumentError("Give the name of an encoding, e.g. latin1, windows-1252 or utf-16le.");
  }
}

/** An option that may be given several times. */
export const several = (value: string, before: string[] = []): string[] => [...before, value];
