// Command start-task starts a task and waits for its archived outputs.
//
//	go run ./cmd/start-task order-17 '{"webAppId": 1, "inputs": {"1:LoadImage.image": {"file": "/srv/photos/cat.jpg"}}}' spring
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"

	"longhaul.dev/examples/go/longhaul"
)

func main() {
	args := longhaul.Arguments("KEY TASK [TAG...]", 2, math.MaxInt)
	os.Exit(longhaul.PrintEnd(run(context.Background(), args[0], args[1], args[2:])))
}

func run(ctx context.Context, key, text string, tags []string) (*longhaul.TaskResult, error) {
	var task longhaul.NewTask
	if err := json.Unmarshal([]byte(text), &task); err != nil {
		return nil, err
	}
	c, err := longhaul.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	started, err := c.Start(ctx, key, task, tags...)
	if err != nil {
		return nil, err
	}
	result, err := c.Result(ctx, started)
	if failed := (*longhaul.TaskFailed)(nil); errors.As(err, &failed) {
		switch failed.Type {
		case "InputInvalid":
			fmt.Fprintln(os.Stderr, failed.Details["problems"])
		case "CreateUncertain", "StopUnconfirmed":
			fmt.Fprintln(os.Stderr, "A person has to find out what was paid.")
		default:
			fmt.Fprintln(os.Stderr, failed.Message)
		}
	}
	return result, err
}
