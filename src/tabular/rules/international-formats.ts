/** Formats of JSON Schema whose texts may have letters of any script. */
import { isIdnHostname } from "idn-hostname";

type Format = (text: string) => boolean;

/** The longest name of a host (RFC 1035); the check of a longer one would take long. */
const LONGEST_HOST = 253;

function isHost(text: string): boolean {
  if (text.length > LONGEST_HOST) return false;
  try {
    return isIdnHostname(text);
  } catch {
    return false;
  }
}

/** A mailbox without quotes before the `@` (RFC 6531). */
const MAILBOX = /^[^\s"(),:;<>@[\\\]\p{Cc}]+@(?<host>[^@]+)$/u;

/** The characters that an IRI has and a URI has not (RFC 3987, section 2.2). */
const BEYOND_URI = /[\u{a0}-\u{d7ff}\u{f900}-\u{fdcf}\u{fdf0}-\u{ffef}\u{10000}-\u{efffd}]/gu;

/** An IRI is valid when the URI that it stands for is (RFC 3987, section 3.1). */
const asUri = (iri: string): string => iri.replaceAll(BEYOND_URI, encodeURIComponent);

/** @param formats those of ASCII text, by name */
export function internationalFormats(formats: ReadonlyMap<string, Format>): Map<string, Format> {
  const iri = (name: string): Format => {
    const isUri = formats.get(name);
    return (text) => isUri?.(asUri(text)) === true;
  };
  return new Map([
    ["idn-hostname", isHost],
    ["idn-email", (text) => isHost(MAILBOX.exec(text)?.groups?.["host"] ?? "")],
    ["iri", iri("uri")],
    ["iri-reference", iri("uri-reference")],
  ]);
}
