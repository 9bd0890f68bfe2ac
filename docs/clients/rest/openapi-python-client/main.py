"""Signs in, uploads a crate, waits until it is stored, and asks for its evidence, its records and its archive."""

import io
import sys
import time
from pathlib import Path

from arkgraph_client import AuthenticatedClient, Client
from arkgraph_client.api.accounts import token
from arkgraph_client.api.crates import download_crate, upload_crate_async, upload_status
from arkgraph_client.api.evidence import query_evidence
from arkgraph_client.api.search import search_basic
from arkgraph_client.models import EvidenceGraphAnswer, PasswordGrant, SearchAnswer, Submission, Token, Upload
from arkgraph_client.types import File

base, username, password, crate, copy = sys.argv[1:]
signed_in = token.sync(client=Client(base_url=base), body=PasswordGrant(username=username, password=password))
if not isinstance(signed_in, Token):
    sys.exit(str(signed_in))
client = AuthenticatedClient(base_url=base, token=signed_in.access_token)

archive = File(payload=io.BytesIO(Path(crate).read_bytes()), file_name="crate.zip")
submission = upload_crate_async.sync(client=client, body=Upload(file=archive))
while isinstance(submission, Submission) and not submission.completed:
    time.sleep(0.2)
    submission = upload_status.sync(str(submission.submission_uuid), client=client)
if not isinstance(submission, Submission) or not isinstance(submission.rocrate_identifier, str):
    sys.exit(str(submission))

naan, postfix = submission.rocrate_identifier.removeprefix("ark:").split("/", 1)
evidence = query_evidence.sync(naan, postfix, client=client)
search = search_basic.sync(client=client, query="clusters")
stored = download_crate.sync(naan, postfix, client=client)
if not isinstance(evidence, EvidenceGraphAnswer) or not isinstance(search, SearchAnswer) or not isinstance(stored, File):
    sys.exit(f"{evidence} {search} {stored}")
Path(copy).write_bytes(stored.payload.read())
print(submission.rocrate_identifier)
print(f"evidence: {len(evidence.graph)} nodes")
print(f"search: {search.total_results} records")
