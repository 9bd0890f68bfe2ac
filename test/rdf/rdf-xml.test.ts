import { DataFactory } from "n3";
import { describe, expect, it } from "vitest";
import { rdfXml } from "../../src/rdf/rdf-xml.js";

const { namedNode, blankNode, literal, quad } = DataFactory;
const EX = "https://example.org/";
const a = namedNode(`${EX}a`);

describe("RDF/XML", () => {
  it("groups triples by subject, and declares namespaces", () => {
    const text = rdfXml(
      [
        quad(a, namedNode(`${EX}ns#name`), literal("one")),
        quad(blankNode("x.1"), namedNode(`${EX}ns#name`), literal("two", "en")),
        quad(a, namedNode(`${EX}ns#knows`), blankNode("x.1")),
        quad(a, namedNode("urn:other:size"), literal("1", namedNode(`${EX}int`))),
        quad(a, namedNode(`${EX}ns#at`), namedNode(`${EX}?a&b='c'`)),
      ],
      { ex: `${EX}ns#` },
    );
    expect(text).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:ex="https://example.org/ns#">
<rdf:Description rdf:about="https://example.org/a">
  <ex:name>one</ex:name>
  <ex:knows rdf:nodeID="bx_1"/>
  <p:size xmlns:p="urn:other:" rdf:datatype="https://example.org/int">1</p:size>
  <ex:at rdf:resource="https://example.org/?a&amp;b='c'"/>
</rdf:Description>
<rdf:Description rdf:nodeID="bx_1">
  <ex:name xml:lang="en">two</ex:name>
</rdf:Description>
</rdf:RDF>
`);
  });

  it("escapes text, and leaves out what XML forbids", () => {
    const text = rdfXml(
      [quad(a, namedNode(`${EX}p`), literal('<&>"]]>\u0000\u000B\uFFFE\uD800\r\n\u{1F600}'))],
      { ex: EX },
    );
    expect(text).toContain('&lt;&amp;&gt;"]]&gt;\uFFFD&#13;\n\u{1F600}</ex:p>');
  });

  it("refuses a predicate that has no name", () => {
    expect(() => rdfXml([quad(a, namedNode(`${EX}1`), literal(""))], {})).toThrow(
      "RDF/XML has no name for <https://example.org/1>",
    );
  });
});
