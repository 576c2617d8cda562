"""Run the rows that "longhaul batch run FILE --prepare" prepared, and follow them to their end.

python start_batch.py "$(longhaul batch run photos.csv --app 1 --prepare)"
"""

import argparse
import asyncio
import json

import command
import longhaul


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("batch", type=json.loads, help="JSON")
    batch: longhaul.Batch = parser.parse_args().batch
    client = await longhaul.connect()
    run = await longhaul.start_batch(client, batch)
    end = asyncio.create_task(longhaul.batch_result(run))
    seen = None
    while not end.done():
        progress = await longhaul.batch_progress(run)
        if progress != seen:
            seen = progress
            print(json.dumps(progress), flush=True)
        await asyncio.wait([end], timeout=1)
    try:
        result = end.result()
    except longhaul.TaskFailed as failure:
        print(json.dumps(vars(failure)))
        return 1
    print(json.dumps(result))
    return 0 if result["success"] == result["rows"] else 1


if __name__ == "__main__":
    command.run(main())
