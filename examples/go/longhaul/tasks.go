package longhaul

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
)

// ErrKeyInUse says that the key stands for a task with another input. Nothing was started.
var ErrKeyInUse = errors.New("the key stands for a task with another input")

// TaskFailed is the end of a task that did not succeed. Switch on Type: docs/reference/errors.md lists them, and what to do.
type TaskFailed struct {
	Type    string         `json:"type"`
	Message string         `json:"message"`
	Details map[string]any `json:"details"`
}

func (f *TaskFailed) Error() string { return f.Type + ": " + f.Message }

// Client starts tasks and follows them.
type Client struct {
	Temporal  client.Client
	TaskQueue string
}

// Connect connects as TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and so on say.
func Connect(ctx context.Context) (*Client, error) {
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return nil, err
	}
	options.Logger = log.NewStructuredLogger(slog.New(slog.DiscardHandler))
	connected, err := client.DialContext(ctx, options)
	if err != nil {
		return nil, err
	}
	taskQueue := os.Getenv("TASK_QUEUE")
	if taskQueue == "" {
		taskQueue = "longhaul"
	}
	return &Client{Temporal: connected, TaskQueue: taskQueue}, nil
}

// Close ends the connection.
func (c *Client) Close() { c.Temporal.Close() }

// tagsKey is what lists find tasks by.
var tagsKey = temporal.NewSearchAttributeKeyKeywordList("LonghaulTags")

var keyPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,80}$`)

// CheckKey says what is wrong with a key by which Longhaul's commands and lists would not know the task.
func CheckKey(key string) error {
	if keyPattern.MatchString(key) {
		return nil
	}
	return fmt.Errorf("the key is %q; give 1 to 80 letters, digits, dots, underscores or hyphens", key)
}

// Start starts a task, a NewTask or an AdoptedTask, or finds the one of this key: the same key never pays twice. Tags are
// what lists find it by; one that is found keeps its own.
func (c *Client) Start(ctx context.Context, key string, task any, tags ...string) (client.WorkflowRun, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	digest, err := digestOf(task)
	if err != nil {
		return nil, err
	}
	attributes := temporal.NewSearchAttributes()
	if len(tags) > 0 {
		attributes = temporal.NewSearchAttributes(tagsKey.ValueSet(tags))
	}
	run, err := c.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:        "task:" + key,
		TaskQueue: c.TaskQueue,
		// A task that failed can be started again: it is not paid again, and its input cannot be another one.
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
		// Without it, the SDK returns the run that exists as if it had started it, whatever its input is.
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		Memo:                                     map[string]any{"startedWith": digest},
		StaticSummary:                            "Task " + key,
		TypedSearchAttributes:                    attributes,
	}, "task", task)
	var started *serviceerror.WorkflowExecutionAlreadyStarted
	if !errors.As(err, &started) {
		return run, err
	}
	// It runs or succeeded. Temporal does not compare inputs, so this does.
	if err := c.requireSame(ctx, key, digest); err != nil {
		return nil, err
	}
	return c.Find(ctx, key), nil
}

func (c *Client) requireSame(ctx context.Context, key, digest string) error {
	described, err := c.Temporal.DescribeWorkflowExecution(ctx, "task:"+key, "")
	if err != nil {
		return err
	}
	var known string
	memo := described.GetWorkflowExecutionInfo().GetMemo().GetFields()["startedWith"]
	if err := converter.GetDefaultDataConverter().FromPayload(memo, &known); err != nil || known != digest {
		return fmt.Errorf("%s: %w", key, ErrKeyInUse)
	}
	return nil
}

func digestOf(task any) (string, error) {
	text, err := json.Marshal(task)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// Find returns the task of a key; nothing is asked yet.
func (c *Client) Find(ctx context.Context, key string) client.WorkflowRun {
	return c.Temporal.GetWorkflow(ctx, "task:"+key, "")
}

// Status tells how a task stands. A worker answers it, also after the end.
func (c *Client) Status(ctx context.Context, key string) (*TaskStatus, error) {
	answer, err := c.Temporal.QueryWorkflow(ctx, "task:"+key, "", "status")
	if err != nil {
		return nil, err
	}
	var status TaskStatus
	return &status, answer.Get(&status)
}

// Result waits for the end, for days if need be. The error is a *TaskFailed when the task did not succeed.
func (c *Client) Result(ctx context.Context, run client.WorkflowRun) (*TaskResult, error) {
	var result TaskResult
	err := run.Get(ctx, &result)
	var failure *temporal.ApplicationError
	var canceled *temporal.CanceledError
	switch {
	case err == nil:
		return &result, nil
	case errors.As(err, &failure):
		return nil, toTaskFailed(failure)
	case errors.As(err, &canceled):
		return c.canceledResult(ctx, run.GetID())
	default:
		// Terminated or timed out by Temporal: nothing follows the task any more, and it may still run and be paid.
		return nil, err
	}
}

// toTaskFailed is the failure of a task or batch with its type and details.
func toTaskFailed(failure *temporal.ApplicationError) error {
	failed := &TaskFailed{Type: failure.Type(), Message: failure.Message()}
	if failure.HasDetails() {
		if err := failure.Details(&failed.Details); err != nil {
			return err
		}
	}
	return failed
}

// canceledResult is the end of a task that Temporal's cancellation stopped: Temporal keeps no result of it, the memo does.
func (c *Client) canceledResult(ctx context.Context, workflowID string) (*TaskResult, error) {
	described, err := c.Temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil {
		return nil, err
	}
	info := described.GetWorkflowExecutionInfo()
	result := &TaskResult{WorkflowID: workflowID, Status: "Canceled", Outputs: []Output{}, FailedOutputs: []FailedOutput{}}
	data := converter.GetDefaultDataConverter()
	requestID := info.GetSearchAttributes().GetIndexedFields()["LonghaulRequestId"]
	return result, errors.Join(
		data.FromPayload(requestID, &result.RequestID),
		data.FromPayload(info.GetMemo().GetFields()["canceledResult"], result),
	)
}

// Stop asks for the end: "stop" is whichever verb of the service applies, "cancel" and "interrupt" are its own verbs.
func (c *Client) Stop(ctx context.Context, key, verb string) error {
	if verb == "stop" {
		return c.Temporal.CancelWorkflow(ctx, "task:"+key, "")
	}
	return c.Temporal.SignalWorkflow(ctx, "task:"+key, "", verb, nil)
}

// Decide answers a task that waits for a decision, with an argument or none; what happens now is told in words.
func (c *Client) Decide(ctx context.Context, key, update string, arguments ...any) (string, error) {
	handle, err := c.Temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID:   "task:" + key,
		UpdateName:   update,
		Args:         arguments,
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return "", err
	}
	var answer struct {
		Words string `json:"words"`
	}
	err = handle.Get(ctx, &answer)
	return answer.Words, err
}
