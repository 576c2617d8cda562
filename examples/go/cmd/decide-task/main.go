// Command decide-task decides about a task that waits for a person: CreateUncertain or ArchiveIncomplete.
//
//	go run ./cmd/decide-task order-17 adopt 4f1c2f9e-6a0e-4c5e-9a53-5d1d0a8d7f10
//	go run ./cmd/decide-task order-17 recreate    # may be paid twice
//	go run ./cmd/decide-task order-17 abandon
//	go run ./cmd/decide-task order-17 rearchive
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"longhaul.dev/examples/go/longhaul"
)

func main() {
	args := longhaul.Arguments("KEY adopt|recreate|abandon|rearchive [REQUEST_ID]", 2, 3)
	if !slices.Contains([]string{"adopt", "recreate", "abandon", "rearchive"}, args[1]) {
		longhaul.WrongUse()
	}
	words, err := decide(context.Background(), args[0], args[1], args[2:])
	if err != nil {
		// The task does not wait for this decision, or the service does not know the request id.
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(words)
}

func decide(ctx context.Context, key, decision string, requestIDs []string) (string, error) {
	c, err := longhaul.Connect(ctx)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if len(requestIDs) == 0 {
		return c.Decide(ctx, key, decision)
	}
	return c.Decide(ctx, key, decision, longhaul.RequestID{RequestID: requestIDs[0]})
}
