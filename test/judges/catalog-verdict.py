"""Reads Turtle documents of a DCAT-AP catalogue; writes what pySHACL finds in all of them together."""

import json
import sys

from pyshacl import validate
from rdflib import DCAT, BNode, Graph
from rdflib.namespace import RDF, SH

with open(sys.argv[1], encoding="utf-8") as file:
    asked = json.load(file)
shapes = Graph()
for path in asked["shapes"]:
    shapes.parse(path, format="turtle")
# Shapes that are referred to and defined nowhere: pySHACL would stop at them.
dangling = [
    (shape, reference)
    for shape, reference in shapes.subject_objects(SH.property)
    if (reference, None, None) not in shapes
]
for shape, reference in dangling:
    shapes.remove((shape, SH.property, reference))
data = Graph()
for document in asked["documents"]:
    data.parse(data=document, format=asked.get("format", "turtle"))
_, report, text = validate(data, shacl_graph=shapes, advanced=False, meta_shacl=False)
results = [
    [str(report.value(result, name)) for name in (SH.resultSeverity, SH.focusNode, SH.resultPath, SH.resultMessage)]
    for result in report.subjects(RDF.type, SH.ValidationResult)
]
answer = {
    "dangling": len(dangling),
    "results": sorted(results),
    # Labels of blank nodes are shared between documents in JSON-LD, so these are not compared.
    "triples": sum(not any(isinstance(term, BNode) for term in triple) for triple in data),
    **{
        name: len(set(data.subjects(RDF.type, DCAT[name])))
        for name in ("Catalog", "Dataset", "Distribution", "DataService")
    },
}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(answer, file)
