// Command adopt-task follows and archives a task that was made elsewhere. Nothing is created, so nothing is paid.
//
//	go run ./cmd/adopt-task 4f1c2f9e-6a0e-4c5e-9a53-5d1d0a8d7f10
package main

import (
	"context"
	"os"

	"longhaul.dev/examples/go/longhaul"
)

func main() {
	args := longhaul.Arguments("REQUEST_ID", 1, 1)
	os.Exit(longhaul.PrintEnd(adopt(context.Background(), args[0])))
}

func adopt(ctx context.Context, requestID string) (*longhaul.TaskResult, error) {
	c, err := longhaul.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	task := longhaul.AdoptedTask{Adopt: longhaul.RequestID{RequestID: requestID}}
	run, err := c.Start(ctx, "adopt-"+requestID, task)
	if err != nil {
		return nil, err
	}
	return c.Result(ctx, run)
}
