package longhaul

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// Arguments returns the arguments of a command. It prints how the command is used, and ends it with 2, where there are
// fewer than least or more than most of them.
func Arguments(usage string, least, most int) []string {
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: %s %s\n", filepath.Base(os.Args[0]), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() < least || flag.NArg() > most {
		WrongUse()
	}
	return flag.Args()
}

// WrongUse prints how the command is used, and ends it with 2.
func WrongUse() {
	flag.Usage()
	os.Exit(2)
}

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
