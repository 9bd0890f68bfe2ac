"""Signs in, uploads a crate, waits until it is stored, and asks for its evidence, its records and its archive."""

import sys
import time
from pathlib import Path

import openapi_client as arkgraph

base, username, password, crate, copy = sys.argv[1:]
configuration = arkgraph.Configuration(host=base)
client = arkgraph.ApiClient(configuration)
configuration.access_token = arkgraph.AccountsApi(client).token(username, password).access_token
crates = arkgraph.CratesApi(client)

submission = crates.upload_crate_async(("crate.zip", Path(crate).read_bytes()))
while not submission.completed:
    time.sleep(0.2)
    submission = crates.upload_status(str(submission.submission_uuid))
if not submission.success or not submission.rocrate_identifier:
    sys.exit(str(submission.error))

naan, postfix = submission.rocrate_identifier.removeprefix("ark:").split("/", 1)
evidence = arkgraph.EvidenceApi(client).query_evidence(naan, postfix)
search = arkgraph.SearchApi(client).search_basic("clusters")
Path(copy).write_bytes(crates.download_crate(naan, postfix))
print(submission.rocrate_identifier)
print(f"evidence: {len(evidence.graph)} nodes")
print(f"search: {search.total_results} records")
