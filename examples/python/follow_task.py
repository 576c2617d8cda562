"""Follow a task: every state that it is seen in, until its end.

python follow_task.py order-17
"""

import argparse
import asyncio
import json

import command
import longhaul


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("key")
    key: str = parser.parse_args().key
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
    command.run(main())
