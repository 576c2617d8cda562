"""What every example does around its work."""

import asyncio
import os
import sys
import traceback
from collections.abc import Coroutine
from typing import Any, NoReturn

from temporalio.service import RPCError, RPCStatusCode


def run(main: Coroutine[Any, Any, int]) -> NoReturn:
    """Run a command, and end the process with its exit code.

    The interpreter is not taken down in order: threads of Temporal's SDK may abort it then
    (temporalio/sdk-python#300). A server, which runs on, does not need this.
    """
    code = 2
    try:
        code = asyncio.run(main)
    except ValueError as error:
        print(error, file=sys.stderr)
    except RPCError as error:
        print(told(error), file=sys.stderr)
    except Exception:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def told(error: RPCError) -> str:
    """What Temporal refused, in a sentence."""
    if error.status != RPCStatusCode.NOT_FOUND:
        return f"Temporal: {error.message}"
    if "already completed" in error.message:
        return "It is over: nothing can be asked of it any more."
    return "Temporal has no task of this key: it was never started, or is forgotten."
