"""Decide about a task that waits for a person: CreateUncertain or ArchiveIncomplete.

python decide_task.py order-17 adopt 4f1c2f9e-6a0e-4c5e-9a53-5d1d0a8d7f10
python decide_task.py order-17 recreate    # may be paid twice
python decide_task.py order-17 abandon
python decide_task.py order-17 rearchive
"""

import argparse
import sys

from temporalio.client import WorkflowUpdateFailedError

import command
import longhaul


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("key")
    parser.add_argument(
        "decision", choices=["adopt", "recreate", "abandon", "rearchive"]
    )
    parser.add_argument("request_id", nargs="?")
    options = parser.parse_args()
    client = await longhaul.connect()
    task = longhaul.find_task(client, options.key)
    argument = (
        longhaul.RequestId(requestId=options.request_id) if options.request_id else None
    )
    try:
        print(await longhaul.decide(task, options.decision, argument))
        return 0
    except WorkflowUpdateFailedError as error:
        # The task does not wait for this decision, or the service does not know the request id.
        print(error.cause, file=sys.stderr)
        return 1


if __name__ == "__main__":
    command.run(main())
