package oracle

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ndd/engine/oracle/long"
)

// timeout is how long goroutines that were told to end may take.
const timeout = time.Minute

// NoLeaks runs a package's tests, and fails if goroutines of theirs stay. It is for TestMain.
//
// A goroutine whose work is done may still have to be scheduled before it is gone. goleak gives it
// less than half a second, which a loaded machine does not; here it has a minute. Only a leak costs
// that.
//
// The garbage collector runs a quarter as often, which saves a fifth of the tests' time; under the race
// detector as often as ever, so that what it must not take is seen there.
func NoLeaks(m *testing.M) {
	if !long.Race() {
		debug.SetGCPercent(400)
	}
	status := m.Run()
	if err := stay(timeout); err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, "leaks:", err)
		status = 1
	}
	os.Exit(status)
}

// stay returns an error that lists the goroutines that are still there after the timeout.
func stay(timeout time.Duration) error {
	for end := time.Now().Add(timeout); ; {
		err := goleak.Find()
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}
