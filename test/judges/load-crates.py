"""Loads crates over HTTP with the RO-Crate tools of others and writes what they read, as JSON.

Usage: load-crates.py INDEX ANSWER. The index is a JSON file:
    {"contexts": {URL: path}, "crates": {name: {"metadata": address, "original": folder}}}
"""

import json
import logging
import os
import sys
from pathlib import Path

from loopback import contexts_from_files, stay_on_loopback

INDEX, ANSWER = sys.argv[1:]
index = json.loads(Path(INDEX).read_text(encoding="utf-8"))
os.environ["ROCRATE_VALIDATOR_AUTO_WARM"] = "0"
stay_on_loopback()
contexts_from_files(index["contexts"])

from rocrate.rocrate import ROCrate  # noqa: E402
from rocrate_validator import services  # noqa: E402
from rocrate_validator.models import Severity  # noqa: E402


def settings_of(address, **more):
    return services.ValidationSettings(rocrate_uri=address, no_cache=True, validate_profile_checks=False, **more)


def checks_of(address):
    """The profiles that a crate says it conforms to, and the checks of them that find a requirement broken."""
    profiles = sorted(profile.identifier for profile in services.detect_profiles(settings_of(address)))
    checks = set()
    for profile in profiles:
        settings = settings_of(address, profile_identifier=profile, requirement_severity=Severity.REQUIRED)
        checks.update(issue.check.identifier for issue in services.validate(settings).get_issues())
    return {"profiles": profiles, "checks": sorted(checks)}


def loaded(metadata, original):
    crate = ROCrate(metadata)
    return {
        "root": crate.root_dataset.id,
        "name": crate.name,
        "entities": [entity.id for entity in crate.get_entities()],
        "validated": checks_of(metadata),
        "original": checks_of(original),
    }


logging.disable(logging.CRITICAL)
answers = {name: loaded(**crate) for name, crate in index["crates"].items()}
Path(ANSWER).write_text(json.dumps(answers), encoding="utf-8")
