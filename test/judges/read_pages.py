"""Reads the pages and RDF of records over HTTP with the tools of others and writes what they find, as JSON.

Usage: read_pages.py INDEX ANSWER. The index is a JSON file: {"pages": [address]}
"""

import json
import sys
from pathlib import Path

import extruct
import rdflib
import requests


def embedded(address):
    """The schema.org document in a page, and what its head says to those who show links."""
    page = requests.get(address, headers={"Accept": "text/html"}, timeout=30)
    found = extruct.extract(page.text, base_url=address, syntaxes=["json-ld", "opengraph"])
    [schema_org] = found["json-ld"]
    return {
        "schemaOrg": schema_org,
        "openGraph": [pair for block in found["opengraph"] for pair in block["properties"]],
    }


def statements(address, name, form):
    """What rdflib reads in one form of RDF, without the names of blank nodes and graphs."""
    graph = rdflib.Dataset() if form in ("trig", "nquads") else rdflib.Graph()
    graph.parse(data=requests.get(f"{address}?format={name}", timeout=30).text, format=form)
    quads = graph.quads() if form in ("trig", "nquads") else graph
    return sorted({
        " ".join("_:" if isinstance(term, rdflib.BNode) else term.n3() for term in quad[:3]) for quad in quads
    })


if __name__ == "__main__":
    INDEX, ANSWER = sys.argv[1:]
    answer = {
        address: {**embedded(address), "turtle": statements(address, "turtle", "turtle")}
        for address in json.loads(Path(INDEX).read_text(encoding="utf-8"))["pages"]
    }
    Path(ANSWER).write_text(json.dumps(answer), encoding="utf-8")
