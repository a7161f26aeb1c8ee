package oracle

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.org/ndd/engine/oracle/long"
)

// timeout is the maximum time for goroutines to end after they were stopped.
const timeout = time.Minute

// NoLeaks runs the tests of a package, and fails if their goroutines do not end. It is for TestMain.
//
// On a loaded machine, a finished goroutine may have to wait before it is scheduled for the last time. goleak allows
// less than half a second; NoLeaks allows a minute. Only a leak takes that long.
//
// Temporary files are in memory, if there is space: see [MemoryTemp].
//
// The garbage collector runs a quarter as often, which saves a fifth of the time. Under the race detector it runs as
// usual, to detect memory that is freed too early.
func NoLeaks(m *testing.M) {
	if !long.Race() {
		debug.SetGCPercent(400)
	}
	MemoryTemp()
	status := m.Run()
	if err := stay(timeout); err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, "leaks:", err)
		status = 1
	}
	os.Exit(status)
}

// stay returns an error that lists the goroutines that still run after the timeout.
func stay(timeout time.Duration) error {
	for end := time.Now().Add(timeout); ; {
		err := goleak.Find()
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}
