/** Text within XML and HTML: the one place that escapes it. */

/** Characters that no XML 1.0 document may hold, not even as references. */
// eslint-disable-next-line no-control-regex
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
const REFERENCE = /&#(?:x([0-9a-f]{1,6})|(\d{1,7}));/gi;

/**
 * An XML document that an RDF library has written, without the characters that XML cannot hold:
 * the libraries write literals as they are. A carriage return becomes a reference: a parser would
 * read a line feed.
 */
export const cleanXml = (document: string): string =>
  document
    .replace(NOT_IN_XML, "")
    .replaceAll("\r", "&#13;")
    .replace(REFERENCE, (reference, hex?: string, decimal?: string) => {
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      const isCharacter = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
      return !isCharacter || String.fromCodePoint(code).search(NOT_IN_XML) === 0 ? "" : reference;
    });

const REFERENCES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

const escaping = (characters: RegExp) => (text: string) =>
  text
    .toWellFormed()
    .replace(NOT_IN_XML, "")
    .replace(characters, (character) => REFERENCES[character] ?? character);

/** Text of an XML element. */
export const xmlText = escaping(/[&<>\r]/g);

/** Text of an XML attribute in double quotes. */
export const xmlValue = escaping(/[&<>"\t\n\r]/g);

/** Text of an HTML element or attribute. */
export const htmlText = escaping(/[&<>"']/g);

export const XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';
