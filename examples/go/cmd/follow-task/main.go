// Command follow-task follows a task: every state that it is seen in, until its end.
//
//	go run ./cmd/follow-task order-17
package main

import (
	"context"
	"os"
	"time"

	"longhaul.dev/examples/go/longhaul"
)

func main() {
	args := longhaul.Arguments("KEY", 1, 1)
	os.Exit(longhaul.PrintEnd(follow(context.Background(), args[0])))
}

func follow(ctx context.Context, key string) (*longhaul.TaskResult, error) {
	c, err := longhaul.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	watching, stop := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- printStates(watching, c, key) }()
	result, err := c.Result(ctx, c.Find(ctx, key))
	stop()
	if problem := <-done; problem != nil {
		return nil, problem
	}
	return result, err
}

// printStates prints each state until its context ends, and then the last one.
func printStates(ctx context.Context, c *longhaul.Client, key string) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for seen := ""; ; {
		over := ctx.Err() != nil
		status, err := c.Status(context.WithoutCancel(ctx), key)
		if err != nil {
			return err
		}
		if status.Status != seen {
			longhaul.PrintLine(status)
			seen = status.Status
		}
		if over {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}
