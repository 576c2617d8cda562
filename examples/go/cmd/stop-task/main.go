// Command stop-task stops a task: "stop", or the service's own verbs "cancel" (while it queues) and "interrupt" (while
// it runs).
//
//	go run ./cmd/stop-task order-17 stop
package main

import (
	"context"
	"log"
	"slices"

	"longhaul.dev/examples/go/longhaul"
)

func main() {
	args := longhaul.Arguments("KEY stop|cancel|interrupt", 2, 2)
	if !slices.Contains([]string{"stop", "cancel", "interrupt"}, args[1]) {
		longhaul.WrongUse()
	}
	ctx := context.Background()
	c, err := longhaul.Connect(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if err := c.Stop(ctx, args[0], args[1]); err != nil {
		log.Fatal(err)
	}
}
