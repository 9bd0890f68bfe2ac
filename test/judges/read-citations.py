"""Reads BibTeX and RIS with bibtexparser and rispy and writes what they find, as JSON.

Usage: read-citations.py INDEX ANSWER. The index is a JSON file: {"bibtex": [text], "ris": [text]}
"""

import json
import sys
from pathlib import Path

import bibtexparser
import rispy
from bibtexparser.middlewares import LatexDecodingMiddleware, SeparateCoAuthors, SplitNameParts

INDEX, ANSWER = sys.argv[1:]
index = json.loads(Path(INDEX).read_text(encoding="utf-8"))


def read_bibtex(text):
    library = bibtexparser.parse_string(
        text, append_middleware=[SeparateCoAuthors(), SplitNameParts(), LatexDecodingMiddleware()]
    )
    if library.failed_blocks or len(library.entries) != 1:
        return {"failed": [str(block.error) for block in library.failed_blocks], "entries": len(library.entries)}
    [entry] = library.entries
    fields = {field.key: field.value for field in entry.fields}
    fields["author"] = [
        {"family": " ".join(name.von + name.last), "given": " ".join(name.first)} for name in fields.get("author", [])
    ]
    return {"type": entry.entry_type, "key": entry.key, **fields}


def read_ris(text):
    entries = rispy.loads(text)
    return entries[0] if len(entries) == 1 else {"entries": len(entries)}


answer = {
    "bibtex": [read_bibtex(text) for text in index["bibtex"]],
    "ris": [read_ris(text) for text in index["ris"]],
}
Path(ANSWER).write_text(json.dumps(answer, default=str), encoding="utf-8")
