"""Follow and archive a task that was made elsewhere. Nothing is created, so nothing is paid.

python adopt_task.py 4f1c2f9e-6a0e-4c5e-9a53-5d1d0a8d7f10
"""

import argparse
import json

import command
import longhaul


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("request_id")
    request_id: str = parser.parse_args().request_id
    client = await longhaul.connect()
    task = longhaul.AdoptedTask(adopt={"requestId": request_id})
    try:
        handle = await longhaul.start_task(client, f"adopt-{request_id}", task)
        print(json.dumps(await longhaul.task_result(handle)))
        return 0
    except longhaul.TaskFailed as failure:
        print(json.dumps(vars(failure)))
        return 1


if __name__ == "__main__":
    command.run(main())
