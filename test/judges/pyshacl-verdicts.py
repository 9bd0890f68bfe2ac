"""Reads {"shapes": Turtle, "records": {identifier: Turtle}}; writes by identifier what pySHACL finds: [focus node, path]."""

import functools
import json
import sys

import pyshacl.validator
from pyshacl import validate
from rdflib import Graph
from rdflib.namespace import RDF, SH

# Each validation would read the shapes anew. They are the same graph for all records.
pyshacl.validator.ShapesGraph = functools.cache(pyshacl.validator.ShapesGraph)

given = json.load(sys.stdin)
shapes = Graph().parse(data=given["shapes"], format="turtle")
found = {}
for identifier, turtle in given["records"].items():
    data = Graph().parse(data=turtle, format="turtle")
    _, report, _ = validate(data, shacl_graph=shapes, advanced=False, meta_shacl=False)
    found[identifier] = [
        [str(report.value(result, SH.focusNode)), str(report.value(result, SH.resultPath))]
        for result in report.subjects(RDF.type, SH.ValidationResult)
    ]
json.dump(found, sys.stdout)
