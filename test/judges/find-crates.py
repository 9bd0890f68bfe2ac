"""Follows the links of crates' identifiers with signposting and writes what they lead to, as JSON.

Usage: find-crates.py INDEX ANSWER. The index is a JSON file: {"crates": {name: address of the ARK}}
"""

import json
import sys
from pathlib import Path

from loopback import stay_on_loopback

INDEX, ANSWER = sys.argv[1:]
index = json.loads(Path(INDEX).read_text(encoding="utf-8"))
stay_on_loopback()

import signposting  # noqa: E402

PROFILE = "https://w3id.org/ro/crate"


def found(address):
    signs = signposting.find_signposting_http(address)
    of_crate = {
        name: [str(link.target) for link in links if PROFILE in map(str, link.profiles)]
        for name, links in (("metadata", signs.describedBy), ("archive", signs.items))
    }
    return {"citeAs": str(signs.citeAs.target), **of_crate}


answers = {name: found(address) for name, address in index["crates"].items()}
Path(ANSWER).write_text(json.dumps(answers), encoding="utf-8")
