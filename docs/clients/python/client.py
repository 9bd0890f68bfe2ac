"""Lists the caller's datasets, then prints changes of them until interrupted.

    pip install -r requirements.txt
    python client.py https://registry.example.org TOKEN [AFTER_SEQUENCE] [EVENTS]
"""

import sys
from pathlib import Path

from gql import Client, GraphQLRequest, gql
from gql.transport.requests import RequestsHTTPTransport
from gql.transport.websockets import WebsocketsTransport

# The same operations as the client in TypeScript; a document may have several.
OPERATIONS = gql((Path(__file__).parent.parent / "operations.graphql").read_text())


def operation(name, **variables):
    return GraphQLRequest(OPERATIONS, operation_name=name, variable_values=variables)


def my_datasets(session):
    """Every dataset of the caller, page by page."""
    me = session.execute(operation("WhoAmI"))["me"]
    after = None
    while True:
        page = session.execute(operation("MyDatasets", owner=me["id"], after=after))["datasets"]
        yield from page["nodes"]
        if not page["pageInfo"]["hasNextPage"]:
            return
        after = page["pageInfo"]["endCursor"]


def main(registry, token, after_sequence=None, events=None):
    headers = {"Authorization": f"Bearer {token}"}
    # The schema is read by introspection (as text it is at /graphql/schema.graphql), so that documents
    # are checked before they are sent.
    http = RequestsHTTPTransport(f"{registry}/graphql", headers=headers)
    with Client(transport=http, fetch_schema_from_transport=True) as session:
        for dataset in my_datasets(session):
            print("dataset", dataset["id"], dataset["name"])

    socket = WebsocketsTransport(
        f"{registry.replace('http', 'ws', 1)}/graphql", init_payload=headers
    )
    changes = operation("Changes", filter={"kinds": ["DATASET"]}, afterSequence=after_sequence)
    left = events
    for answer in Client(transport=socket).subscribe(changes):
        event = answer["recordChanges"]
        for change in event["changes"]:
            print(change["change"], change["id"], flush=True)
        # Store it: a client that starts again with it misses nothing.
        print("sequence", int(event["sequence"]), flush=True)
        left = None if left is None else left - 1
        if left == 0:
            return


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
