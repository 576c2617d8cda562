package longhaul

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// PrintEnd prints how a task ended as a line of JSON, and returns the exit code of a command that waited for it.
func PrintEnd(result *TaskResult, err error) int {
	var failed *TaskFailed
	switch {
	case err == nil:
		return PrintLine(result)
	case errors.As(err, &failed):
		PrintLine(failed)
		return 1
	default:
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
}

// PrintLine prints a line of JSON.
func PrintLine(value any) int {
	if err := json.NewEncoder(os.Stdout).Encode(value); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}
