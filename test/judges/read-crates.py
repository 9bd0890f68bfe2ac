"""Reads crates with the tools of others and writes what each of them says, as JSON.

Usage: read-crates.py INDEX ANSWER. The index is a JSON file:
    {"contexts": {URL: path},
     "crates": {name: {"original": folder, "export": folder, "document": path, "validated": boolean}}}
Opens no connection: contexts are read from the files of the index, and every other address is unreachable.
"""

import io
import itertools
import json
import logging
import os
import socket
import sys
import warnings
from pathlib import Path

import requests
import requests.adapters

INDEX, ANSWER = sys.argv[1:]
index = json.loads(Path(INDEX).read_text(encoding="utf-8"))


def unreachable(*args, **kwargs):
    raise OSError("tests open no connection")


def from_file(self, request, **kwargs):
    """Answers a request for a context as its server does; every other address is unreachable."""
    if request.url not in index["contexts"]:
        raise requests.ConnectionError(f"{request.url} is unreachable: tests open no connection", request=request)
    response = requests.Response()
    response.status_code = 200
    response.url = request.url
    response.request = request
    response.headers["Content-Type"] = "application/ld+json"
    response.raw = io.BytesIO(Path(index["contexts"][request.url]).read_bytes())
    return response


# Before the tools are loaded, which keep references to what they call.
os.environ["ROCRATE_VALIDATOR_AUTO_WARM"] = "0"
socket.getaddrinfo = socket.socket.connect = unreachable
requests.adapters.HTTPAdapter.send = from_file

from fairscape_models.rocrate import ROCrateV1_2  # noqa: E402
from rdflib.plugins.sparql import processor  # noqa: E402
from rocrate.rocrate import ROCrate  # noqa: E402
from rocrate_validator import services  # noqa: E402
from rocrate_validator.models import Severity, Validator  # noqa: E402

METADATA = "ro-crate-metadata.json"

query = processor.SPARQLProcessor.query
prepared = {}


def query_prepared(self, text, initBindings=None, initNs=None, base=None, DEBUG=False):
    """Runs a query that is parsed once: roc-validator runs the same few of its shapes on each entity of each crate."""
    if isinstance(text, str):
        key = (text, base, frozenset((initNs or {}).items()))
        if key not in prepared:
            prepared[key] = processor.translateQuery(processor.parseQuery(text), base, initNs)
        text = prepared[key]
    return query(self, text, initBindings, initNs, base, DEBUG)


processor.SPARQLProcessor.query = query_prepared


def said(error):
    return f"{type(error).__name__}: {error}".strip()


def opened(folder):
    """None when ro-crate-py opens the crate, else why it does not."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ROCrate(folder)
        return None
    except Exception as error:
        return said(error)


def settings_of(folder, **more):
    return services.ValidationSettings(
        rocrate_uri=folder, no_cache=True, disable_remote_crate_download=True,
        validate_profile_checks=False, **more
    )


def profiles_of(folder):
    """The profiles that the crate conforms to."""
    return sorted(profile.identifier for profile in services.detect_profiles(settings_of(folder))) or ["ro-crate"]


validators = {}


def validate(folder, profile):
    """Validates a crate; the shapes of a profile are loaded once for all crates."""
    if profile not in validators:
        validators[profile] = Validator(
            settings_of(folder, profile_identifier=profile, requirement_severity=Severity.RECOMMENDED)
        )
    return validators[profile].validate(rocrate_uri=folder)


def validated(folders, profiles):
    """What roc-validator finds in crates by profiles, and for which of them it fails itself."""
    issues, errors = [], []
    for folder, profile in itertools.product(folders, profiles):
        try:
            result = validate(folder, profile)
        except Exception as error:
            errors.append(said(error))
            continue
        for issue in result.get_issues():
            issues.append({
                "check": issue.check.identifier, "severity": issue.severity.name,
                "entity": issue.violatingEntity, "property": issue.violatingProperty, "message": issue.message,
            })
    return {"issues": issues, "errors": errors}


def read_by_fairscape(path):
    """What fairscape_models reads of each entity, or why it does not."""
    try:
        crate = ROCrateV1_2.model_validate(json.loads(Path(path).read_text(encoding="utf-8")))
        dump = crate.model_dump(mode="json", by_alias=True, exclude_none=True)
        return {"entities": {entity["@id"]: entity for entity in dump["@graph"]}}
    except Exception as error:
        return {"error": said(error)}


def answer_for(crate):
    original, exported = crate["original"], crate["export"]
    answer = {
        "opened": {"original": opened(original), "export": opened(exported)},
        "read": {
            "original": read_by_fairscape(f"{original}/{METADATA}"),
            "export": read_by_fairscape(crate["document"]),
        },
    }
    if crate["validated"]:
        profiles = profiles_of(original)
        # What is exported describes the crates within a crate too.
        within = [str(path.parent) for path in sorted(Path(original).rglob(METADATA))]
        answer["validated"] = {"original": validated(within, profiles), "export": validated([exported], profiles)}
    return answer


logging.disable(logging.CRITICAL)
answers = {name: answer_for(crate) for name, crate in index["crates"].items()}
Path(ANSWER).write_text(json.dumps(answers), encoding="utf-8")
