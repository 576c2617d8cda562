"""Start a task with the policies of your choice, and see what Temporal makes of it (docs/reference/contract.md, "The same key").

python try_policies.py order-17 '{"webAppId": 5, "inputs": {}}' --reuse REJECT_DUPLICATE --conflict USE_EXISTING
"""

import argparse
import json

from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

import command
import longhaul


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("key")
    parser.add_argument("task", type=json.loads)
    parser.add_argument("--reuse", default="ALLOW_DUPLICATE")
    parser.add_argument("--conflict", default="UNSPECIFIED")
    options = parser.parse_args()
    client = await longhaul.connect()
    try:
        handle = await client.start_workflow(
            "task",
            options.task,
            id=longhaul.task_id(options.key),
            task_queue=longhaul.TASK_QUEUE,
            id_reuse_policy=WorkflowIDReusePolicy[options.reuse],
            id_conflict_policy=WorkflowIDConflictPolicy[options.conflict],
        )
        print(json.dumps({"runId": handle.first_execution_run_id}))
    except WorkflowAlreadyStartedError as error:
        print(json.dumps({"alreadyStarted": error.run_id}))
    return 0


if __name__ == "__main__":
    command.run(main())
