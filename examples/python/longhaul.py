"""Tasks of Longhaul from Python, with nothing but Temporal's own SDK.

Copy this file into a backend and change what you like. docs/reference/contract.md of Longhaul is
the contract, docs/reference/contract.schema.json has every field of it.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import (
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.envconfig import ClientConfig
from temporalio.exceptions import (
    ApplicationError,
    CancelledError,
    WorkflowAlreadyStartedError,
)

TASK_QUEUE = os.environ.get("TASK_QUEUE", "longhaul")

REQUEST_ID = SearchAttributeKey.for_keyword("LonghaulRequestId")
TAGS = SearchAttributeKey.for_keyword_list("LonghaulTags")

# A file that is uploaded first; "as" is a keyword of Python, so this is no class.
FileInput = TypedDict(
    "FileInput",
    {
        "file": str,
        "as": NotRequired[Literal["url", "name", "id"]],
        "sha256": NotRequired[str],
    },
)


class Deadlines(TypedDict, total=False):
    """Durations such as "90 seconds" or "12h". They stop the task at the service."""

    queue: str
    run: str
    total: str


class NewTask(TypedDict):
    """A task to create. A field that you do not set must be left out: null is refused."""

    webAppId: int
    inputs: Mapping[str, str | int | float | FileInput]
    account: NotRequired[str]
    archive: NotRequired[str]
    watch: NotRequired[Literal["timer", "activity"]]
    deadlines: NotRequired[Deadlines]
    onUncertain: NotRequired[Literal["hold", "fail", "recreate"]]
    # One of the workers' webhooks, which is sent when the task has ended.
    webhook: NotRequired[str]
    tuning: NotRequired[Mapping[str, Any]]


class RequestId(TypedDict):
    """The service's id of a task."""

    requestId: str


class AdoptedTask(TypedDict):
    """A task that exists at the service already."""

    adopt: RequestId
    webAppId: NotRequired[int]
    account: NotRequired[str]
    archive: NotRequired[str]
    webhook: NotRequired[str]


class Output(TypedDict):
    """One archived file."""

    path: str
    sha256: str
    bytes: int
    ext: str


class FailedOutput(TypedDict):
    """One that the service reports as failed."""

    index: int
    errorType: str
    message: str | None


class TaskResult(TypedDict):
    """What a task ends with; the schema has more fields of it."""

    workflowId: str
    requestId: str | None
    status: Literal["Success", "Failed", "Canceled"]
    outputs: Sequence[Output]
    outputCount: int
    outputBytes: int
    failedOutputs: Sequence[FailedOutput]
    failedOutputCount: int
    manifest: str | None


class Problem(TypedDict):
    """What keeps a task or a batch from going on, or asks for a person."""

    code: str
    message: str
    since: str | None
    remedy: str | None


class TaskStatus(TypedDict):
    """The answer to the query "status"; the schema has more fields of it."""

    status: str
    since: str
    requestId: str | None
    queuePosition: int | None
    waitingFor: str
    nextStep: str
    problem: Problem | None


class Decision(TypedDict):
    """The answer to an update."""

    words: str


class Rows(TypedDict):
    """Prepared rows, as "longhaul batch run --prepare" prints them."""

    location: str
    digest: str
    rows: int
    pages: int


class Batch(TypedDict):
    """A batch to run. A field that you do not set must be left out: null is refused."""

    id: str
    rows: Rows
    source: NotRequired[str]
    badRows: NotRequired[int]
    concurrency: NotRequired[int]
    archive: NotRequired[str]
    names: NotRequired[str]
    watch: NotRequired[Literal["timer", "activity"]]
    attempts: NotRequired[int]
    budget: NotRequired[str]
    retryFailed: NotRequired[bool]
    allowChanged: NotRequired[bool]
    allowNew: NotRequired[bool]
    tuning: NotRequired[Mapping[str, Any]]


class BatchResult(TypedDict):
    """What a batch ends with, also one with rows that failed; the schema has more fields of it."""

    rows: int
    success: int
    failed: int
    canceled: int
    ending: str


class BatchProgress(TypedDict):
    """The answer to the query "progress"; the schema has more fields of it."""

    state: str
    rows: int
    running: int
    waiting: int
    success: int
    failed: int
    canceled: int
    problem: Problem | None


Task = WorkflowHandle[Any, TaskResult]
BatchRun = WorkflowHandle[Any, BatchResult]


class TaskFailed(Exception):
    """The task did not succeed. Switch on `type`: docs/reference/errors.md lists them, and what to do."""

    def __init__(self, type: str, message: str, details: Mapping[str, Any]) -> None:
        super().__init__(f"{type}: {message}")
        self.type = type
        self.message = message
        self.details = details


class KeyInUse(Exception):
    """The key stands for a task with another input. Nothing was started."""


def task_id(key: str) -> str:
    """The workflow id of a task. Raises ValueError for a key by which Longhaul's commands and lists would not know it."""
    if re.fullmatch(r"[A-Za-z0-9._-]{1,80}", key):
        return f"task:{key}"
    rule = "give 1 to 80 letters, digits, dots, underscores or hyphens"
    raise ValueError(f"The key is {json.dumps(key)}; {rule}.")


async def connect() -> Client:
    """Connect as TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and so on say."""
    return await Client.connect(**ClientConfig.load_client_connect_config())


async def start_task(
    client: Client, key: str, task: NewTask | AdoptedTask, tags: Sequence[str] = ()
) -> Task:
    """Start a task, or find the one of this key: the same key never pays twice.

    Tags are what lists find it by; one that is found keeps its own. Raises ValueError before anything is sent
    for what can be no key, and KeyInUse.
    """
    workflow_id = task_id(key)
    text = json.dumps(task, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    try:
        return await client.start_workflow(
            "task",
            task,
            id=workflow_id,
            task_queue=TASK_QUEUE,
            result_type=TaskResult,
            # A task that failed can be started again: it is not paid again, and its input cannot be another one.
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
            memo={"startedWith": digest},
            static_summary=f"Task {key}",
            search_attributes=TypedSearchAttributes(
                [SearchAttributePair(TAGS, list(tags))] if tags else []
            ),
        )
    except WorkflowAlreadyStartedError:
        # It runs or succeeded. Temporal does not compare inputs, so this does.
        handle = find_task(client, key)
        memo = await (await handle.describe()).memo()
        if memo.get("startedWith") != digest:
            raise KeyInUse(f"{key} stands for a task with another input.") from None
        return handle


def find_task(client: Client, key: str) -> Task:
    """The task of a key; nothing is asked yet. Raises ValueError for what can be no key."""
    return client.get_workflow_handle(task_id(key), result_type=TaskResult)


async def task_status(task: Task) -> TaskStatus:
    """How the task stands. A worker answers it, also after the end."""
    status: TaskStatus = await task.query("status", result_type=TaskStatus)
    return status


async def task_result(task: Task) -> TaskResult:
    """Wait for the end, for days if need be. Raises TaskFailed."""
    try:
        return await task.result()
    except WorkflowFailureError as error:
        cause = error.cause
        if isinstance(cause, CancelledError):
            return await canceled_result(task)
        # Else terminated or timed out by Temporal: nothing follows the task any more, and it may still run and be paid.
        raise failure_of(error) from error


def failure_of(error: WorkflowFailureError) -> Exception:
    """The failure of a task or batch, with its type where it has one."""
    cause = error.cause
    if not isinstance(cause, ApplicationError) or cause.type is None:
        return error
    details = cause.details[0] if cause.details else {}
    return TaskFailed(cause.type, cause.message, details)


async def canceled_result(task: Task) -> TaskResult:
    """The end of a task that Temporal's cancellation stopped: Temporal keeps no result of it, the memo does."""
    description = await task.describe()
    return {
        "workflowId": task.id,
        "requestId": description.typed_search_attributes.get(REQUEST_ID),
        "status": "Canceled",
        "outputs": [],
        "outputCount": 0,
        "outputBytes": 0,
        "failedOutputs": [],
        "failedOutputCount": 0,
        "manifest": None,
        **(await description.memo())["canceledResult"],
    }


async def stop_task(task: Task, verb: Literal["stop", "cancel", "interrupt"]) -> None:
    """Ask for the end: "stop" is whichever verb of the service applies."""
    if verb == "stop":
        await task.cancel()
    else:
        await task.signal(verb)


async def decide(task: Task, update: str, argument: Any = None) -> str:
    """Answer a task that waits for a decision; what happens now is told in words."""
    args = [] if argument is None else [argument]
    answer: Decision = await task.execute_update(
        update, args=args, result_type=Decision
    )
    return answer["words"]


async def start_batch(client: Client, batch: Batch) -> BatchRun:
    """Run prepared rows, or find the batch of this id that runs. Rows that are done are never paid twice."""
    return await client.start_workflow(
        "batch",
        batch,
        id=f"batch:{batch['id']}",
        task_queue=TASK_QUEUE,
        result_type=BatchResult,
        # One that is over is run again: it goes on with the rows that have not ended.
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        # By this, "longhaul batch run" knows the rows of a batch that runs.
        memo={"rowsDigest": batch["rows"]["digest"]},
        static_summary=f"Batch {batch['id']}",
    )


async def batch_progress(batch: BatchRun) -> BatchProgress:
    """How far the batch is. A worker answers it, also after the end."""
    progress: BatchProgress = await batch.query("progress", result_type=BatchProgress)
    return progress


async def batch_result(batch: BatchRun) -> BatchResult:
    """Wait for the end. Raises TaskFailed when the batch itself cannot go on; rows that fail are counted."""
    try:
        return await batch.result()
    except WorkflowFailureError as error:
        raise failure_of(error) from error
