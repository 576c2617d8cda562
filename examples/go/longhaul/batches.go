package longhaul

import (
	"context"
	"errors"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// StartBatch runs prepared rows, or finds the batch of this id that runs. Rows that are done are never paid twice.
func (c *Client) StartBatch(ctx context.Context, batch Batch) (client.WorkflowRun, error) {
	return c.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:        "batch:" + batch.ID,
		TaskQueue: c.TaskQueue,
		// One that is over is run again: it goes on with the rows that have not ended.
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		// By this, "longhaul batch run" knows the rows of a batch that runs.
		Memo:          map[string]any{"rowsDigest": batch.Rows.Digest},
		StaticSummary: "Batch " + batch.ID,
	}, "batch", batch)
}

// BatchProgress tells how far a batch is. A worker answers it, also after the end.
func (c *Client) BatchProgress(ctx context.Context, id string) (*BatchProgress, error) {
	answer, err := c.Temporal.QueryWorkflow(ctx, "batch:"+id, "", "progress")
	if err != nil {
		return nil, err
	}
	var progress BatchProgress
	return &progress, answer.Get(&progress)
}

// BatchResult waits for the end. The error is a *TaskFailed when the batch itself cannot go on; rows that fail are
// counted.
func (c *Client) BatchResult(ctx context.Context, run client.WorkflowRun) (*BatchResult, error) {
	var result BatchResult
	err := run.Get(ctx, &result)
	var failure *temporal.ApplicationError
	if err == nil {
		return &result, nil
	}
	if errors.As(err, &failure) {
		return nil, toTaskFailed(failure)
	}
	return nil, err
}
