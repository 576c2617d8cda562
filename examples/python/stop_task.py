"""Stop a task: "stop", or the service's own verbs "cancel" (while it queues) and "interrupt" (while it runs).

python stop_task.py order-17 stop
"""

import argparse
import sys

from temporalio.client import WorkflowExecutionStatus

import command
import longhaul


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("key")
    parser.add_argument("verb", choices=["stop", "cancel", "interrupt"])
    options = parser.parse_args()
    client = await longhaul.connect()
    task = longhaul.find_task(client, options.key)
    # Temporal takes the cancellation of what is over, and does nothing.
    if (await task.describe()).status != WorkflowExecutionStatus.RUNNING:
        print("It is over: there is nothing to stop.", file=sys.stderr)
        return 1
    await longhaul.stop_task(task, options.verb)
    return 0


if __name__ == "__main__":
    command.run(main())
