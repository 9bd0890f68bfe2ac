"""Lets F-UJI assess records over HTTP and writes its scores, as JSON.

Usage: assess.py INDEX ANSWER. The index is a JSON file:
    {"source": folder with the source of F-UJI, "records": {name: address}}
F-UJI's service runs as it is, but answers requests of this script and does not listen. No connection leaves
the loopback: F-UJI takes what it would look up elsewhere (lists of licences, of repositories) from its source.
"""

import base64
import configparser
import json
import logging
import os
import sys
from pathlib import Path

from loopback import stay_on_loopback

INDEX, ANSWER = sys.argv[1:]
index = json.loads(Path(INDEX).read_text(encoding="utf-8"))
refused = stay_on_loopback()
# Without its server for content types, which would be downloaded, F-UJI believes the headers.
os.environ.update(TIKA_CLIENT_ONLY="True", TIKA_SERVER_ENDPOINT="http://127.0.0.1:9")
sys.path.insert(0, index["source"])

import connexion  # noqa: E402
import fuji_server.__main__ as service  # noqa: E402

answers = {}


def assess(self, **_):
    """In place of listening: asks for each record as a client would."""
    credentials = base64.b64encode(b"marvel:wonderwoman").decode()
    with self.test_client() as client:
        for name, address in index["records"].items():
            answer = client.post(
                "/fuji/api/v1/evaluate",
                headers={"Authorization": f"Basic {credentials}"},
                json={
                    "object_identifier": address,
                    "test_debug": True,
                    "use_datacite": False,
                    "metric_version": "metrics_v0.8",
                },
            )
            found = answer.json()
            answers[name] = {
                "score": found["summary"]["score_percent"]["FAIR"],
                "metrics": {each["metric_identifier"]: [each["score"]["earned"], each["score"]["total"]]
                            for each in found["results"]},
            }


connexion.FlaskApp.run = assess
service.config = configparser.ConfigParser()
service.config.read(Path(index["source"], "fuji_server", "config", "server.ini"))
service.logger = logging.getLogger()
service.main()
Path(ANSWER).write_text(json.dumps({"records": answers, "refused": sorted(refused)}), encoding="utf-8")
