"""Sends the events of one run with OpenLineage's own client.

OPENLINEAGE_URL and OPENLINEAGE_API_KEY name the registry and hold the token.
"""

from datetime import datetime, timezone

from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import schema_dataset, source_code_location_job
from openlineage.client.uuid import generate_new_uuid

client = OpenLineageClient()
run = Run(runId=str(generate_new_uuid()))
job = Job(
    namespace="lab",
    name="count-cells",
    facets={
        "sourceCodeLocation": source_code_location_job.SourceCodeLocationJobFacet(
            type="git", url="https://example.org/count-cells/blob/v2/count.py", version="v2"
        )
    },
)
images = InputDataset(namespace="s3://images", name="plate-1")
counts = OutputDataset(
    namespace="postgres://db:5432",
    name="lab.public.counts",
    facets={
        "schema": schema_dataset.SchemaDatasetFacet(
            fields=[
                schema_dataset.SchemaDatasetFacetFields(name="image", type="VARCHAR"),
                schema_dataset.SchemaDatasetFacetFields(name="cells", type="INTEGER"),
            ]
        )
    },
)


def emit(state: RunState, outputs: list[OutputDataset]) -> None:
    client.emit(
        RunEvent(
            eventType=state,
            eventTime=datetime.now(timezone.utc).isoformat(),
            run=run,
            job=job,
            inputs=[images],
            outputs=outputs,
            producer="https://example.org/count-cells",
        )
    )


emit(RunState.START, [])
emit(RunState.COMPLETE, [counts])
print(run.runId)
