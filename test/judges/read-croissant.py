"""Validates Croissant documents with mlcroissant and loads their records over HTTP.

Usage: read-croissant.py INDEX ANSWER. The index is a JSON file: {"documents": {name: address}, "token": text}
"""

import json
import logging
import sys
from pathlib import Path

import mlcroissant
import requests
from absl import logging as absl_logging

INDEX, ANSWER = sys.argv[1:]
index = json.loads(Path(INDEX).read_text(encoding="utf-8"))
warned = []


class Collect(logging.Handler):
    def emit(self, entry):
        if entry.levelno >= logging.WARNING:
            warned.append(entry.getMessage())


absl_logging.get_absl_logger().addHandler(Collect())


def plain(value):
    return value.decode() if isinstance(value, bytes) else value.item() if hasattr(value, "item") else value


answer = {}
for name, address in index["documents"].items():
    warned.clear()
    document = requests.get(address, timeout=60).json()
    try:
        dataset = mlcroissant.Dataset(jsonld=document)
        issues = dataset.metadata.ctx.issues
        answer[name] = {
            "errors": sorted(issues.errors),
            "warnings": sorted(issues.warnings) + list(warned),
            "records": {
                records.id: [{key: plain(value) for key, value in row.items()} for row in dataset.records(records.id)]
                for records in dataset.metadata.record_sets
            },
            "files": [file.id for file in dataset.metadata.file_objects],
            "sets": [files.id for files in dataset.metadata.file_sets],
        }
    except Exception as error:
        answer[name] = {"errors": [f"{type(error).__name__}: {error}"], "warnings": list(warned)}
Path(ANSWER).write_text(json.dumps(answer), encoding="utf-8")
