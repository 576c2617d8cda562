"""What every example does around its work."""

import asyncio
import os
import sys
import traceback
from collections.abc import Coroutine
from typing import Any, NoReturn


def run(main: Coroutine[Any, Any, int]) -> NoReturn:
    """Run a command, and end the process with its exit code.

    The interpreter is not taken down in order: threads of Temporal's SDK may abort it then
    (temporalio/sdk-python#300). A server, which runs on, does not need this.
    """
    code = 2
    try:
        code = asyncio.run(main)
    except Exception:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
