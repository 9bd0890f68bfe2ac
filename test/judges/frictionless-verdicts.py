"""By file, whether frictionless finds a Data Package and its tables valid.

Usage: frictionless-verdicts.py INDEX ANSWER; INDEX has the folder and the files in it.
"""

import json
import os
import sys

from frictionless import Package

with open(sys.argv[1], encoding="utf-8") as file:
    index = json.load(file)
os.chdir(index["folder"])
verdicts = {}
for name in index["files"]:
    try:
        report = Package(name).validate()
        verdicts[name] = [
            f"{error.type} {error.message}"
            for task in report.tasks
            for error in task.errors
        ] + [error.message for error in report.errors]
    except Exception as error:
        verdicts[name] = [str(error)]
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(verdicts, file)
