"""Follow a task: every state that it is seen in, until its end.

python follow_task.py order-17
"""

import asyncio
import json
import sys

import command
import longhaul


async def main(key: str) -> int:
    client = await longhaul.connect()
    task = longhaul.find_task(client, key)
    end = asyncio.create_task(longhaul.task_result(task))
    seen = None
    while True:
        status = await longhaul.task_status(task)
        if status["status"] != seen:
            seen = status["status"]
            print(json.dumps(status), flush=True)
        if end.done():
            break
        await asyncio.wait([end], timeout=1)
    try:
        print(json.dumps(end.result()))
        return 0
    except longhaul.TaskFailed as failure:
        print(json.dumps(vars(failure)))
        return 1


if __name__ == "__main__":
    command.run(main(sys.argv[1]))
