// Command stop-task stops a task: "stop", or the service's own verbs "cancel" (while it queues) and "interrupt" (while
// it runs).
//
//	go run ./cmd/stop-task order-17 stop
package main

import (
	"context"
	"log"
	"os"

	"longhaul.dev/examples/go/longhaul"
)

func main() {
	ctx := context.Background()
	c, err := longhaul.Connect(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if err := c.Stop(ctx, os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}
