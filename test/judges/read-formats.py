"""Reads a record over HTTP with the tools of others and writes what they find, as JSON.

Usage: read-formats.py INDEX ANSWER. The index is a JSON file: {"record": address of a crate, "bags": [folder]}
"""

import json
import sys
from pathlib import Path

import bagit
import signposting
from read_pages import embedded, statements

INDEX, ANSWER = sys.argv[1:]
index = json.loads(Path(INDEX).read_text(encoding="utf-8"))
record = index["record"]


def problem_of(folder):
    """None when the folder is a valid bag, else what bagit finds."""
    try:
        bagit.Bag(folder).validate()
        return None
    except bagit.BagError as error:
        return str(error)


def links(found):
    return [
        {"target": str(link.target), "type": link.type and str(link.type), "profiles": sorted(map(str, link.profiles))}
        for link in found
    ]


signs = signposting.find_signposting_http(record)
linkset = signposting.find_signposting_linkset(f"{record}?format=linkset")
FORMS = {"turtle": "turtle", "ntriples": "nt", "rdfxml": "xml", "trig": "trig", "nquads": "nquads", "schemaorg": "json-ld"}

answer = {
    "bags": [problem_of(folder) for folder in index["bags"]],
    "citeAs": str(signs.citeAs.target),
    "describedBy": links(signs.describedBy),
    "items": links(signs.items),
    "linkset": links(linkset.for_context(record).describedBy),
    **embedded(record),
    "graphs": {name: statements(record, name, form) for name, form in FORMS.items()},
}
Path(ANSWER).write_text(json.dumps(answer), encoding="utf-8")
