// Command try-policies starts a task with the policies of your choice, and shows what Temporal makes of it
// (docs/reference/contract.md, "The same key").
//
//	go run ./cmd/try-policies -reuse REJECT_DUPLICATE -conflict USE_EXISTING order-17 '{"webAppId": 5, "inputs": {}}'
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"os"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"longhaul.dev/examples/go/longhaul"
)

func main() {
	reuse := flag.String("reuse", "ALLOW_DUPLICATE", "what to do when the last run is over")
	conflict := flag.String("conflict", "UNSPECIFIED", "what to do when a run is under way")
	silent := flag.Bool("silent", false, "leave WorkflowExecutionErrorWhenAlreadyStarted out, as the SDK does by default")
	args := longhaul.Arguments("[-reuse POLICY] [-conflict POLICY] [-silent] KEY TASK", 2, 2)
	reusePolicy, err := enums.WorkflowIdReusePolicyFromString("WORKFLOW_ID_REUSE_POLICY_" + *reuse)
	if err != nil {
		log.Fatal(err)
	}
	conflictPolicy, err := enums.WorkflowIdConflictPolicyFromString("WORKFLOW_ID_CONFLICT_POLICY_" + *conflict)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	c, err := longhaul.Connect(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	run, err := c.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       "task:" + args[0],
		TaskQueue:                c.TaskQueue,
		WorkflowIDReusePolicy:    reusePolicy,
		WorkflowIDConflictPolicy: conflictPolicy,
		// Otherwise the run that exists is returned, and nothing tells it from a new one.
		WorkflowExecutionErrorWhenAlreadyStarted: !*silent,
	}, "task", json.RawMessage(args[1]))
	var started *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case errors.As(err, &started):
		os.Exit(longhaul.PrintLine(map[string]string{"alreadyStarted": started.RunId}))
	case err != nil:
		log.Fatal(err)
	}
	os.Exit(longhaul.PrintLine(map[string]string{"runId": run.GetRunID()}))
}
