// Command start-batch runs the rows that "longhaul batch run FILE --prepare" prepared, and follows them to their end.
//
//	go run ./cmd/start-batch "$(longhaul batch run photos.csv --app 1 --prepare)"
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"longhaul.dev/examples/go/longhaul"
)

func main() {
	args := longhaul.Arguments("BATCH", 1, 1)
	result, err := run(context.Background(), args[0])
	var failed *longhaul.TaskFailed
	switch {
	case err == nil:
		longhaul.PrintLine(result)
		if result.Success < result.Rows {
			os.Exit(1)
		}
	case errors.As(err, &failed):
		longhaul.PrintLine(failed)
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run(ctx context.Context, text string) (*longhaul.BatchResult, error) {
	var batch longhaul.Batch
	if err := json.Unmarshal([]byte(text), &batch); err != nil {
		return nil, err
	}
	c, err := longhaul.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	started, err := c.StartBatch(ctx, batch)
	if err != nil {
		return nil, err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go printProgress(watching, c, batch.ID)
	return c.BatchResult(ctx, started)
}

// printProgress prints how far the batch is whenever that changes. What cannot be asked now is asked again.
func printProgress(ctx context.Context, c *longhaul.Client, id string) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for seen := (longhaul.BatchProgress{}); ; {
		if progress, err := c.BatchProgress(ctx, id); err == nil && *progress != seen {
			seen = *progress
			longhaul.PrintLine(progress)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
