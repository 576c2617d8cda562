"""Start a task and wait for its archived outputs.

python start_task.py order-17 '{"webAppId": 1, "inputs": {"1:LoadImage.image": {"file": "/srv/photos/cat.jpg"}}}' spring
"""

import argparse
import json
import sys

import command
import longhaul


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("key")
    parser.add_argument("task", type=json.loads, help="JSON")
    parser.add_argument("tags", nargs="*")
    options = parser.parse_args()
    client = await longhaul.connect()
    try:
        handle = await longhaul.start_task(
            client, options.key, options.task, options.tags
        )
        print(json.dumps(await longhaul.task_result(handle)))
        return 0
    except longhaul.KeyInUse as error:
        print(error, file=sys.stderr)
        return 2
    except longhaul.TaskFailed as failure:
        match failure.type:
            case "InputInvalid":
                print(*failure.details["problems"], sep="\n", file=sys.stderr)
            case "CreateUncertain" | "StopUnconfirmed":
                print("A person has to find out what was paid.", file=sys.stderr)
            case _:
                print(failure.message, file=sys.stderr)
        print(json.dumps(vars(failure)))
        return 1


if __name__ == "__main__":
    command.run(main())
