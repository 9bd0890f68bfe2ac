"""Asks the documents of an index with gql for Python. Usage: ask-with-gql.py INDEX ANSWER"""

import json
import sys
from pathlib import Path

from gql import Client, GraphQLRequest
from gql.transport.requests import RequestsHTTPTransport

index, answer = (Path(argument) for argument in sys.argv[1:])
asked = json.loads(index.read_text())
transport = RequestsHTTPTransport(asked["url"], headers={"Authorization": f"Bearer {asked['token']}"})
with Client(transport=transport, fetch_schema_from_transport=True) as session:
    answers = {
        question["name"]: session.execute(GraphQLRequest(question["document"], variable_values=question["variables"]))
        for question in asked["questions"]
    }
answer.write_text(json.dumps(answers))
