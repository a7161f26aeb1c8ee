// Package leaks ends tests that leave goroutines behind.
//
// A goroutine whose work is done may still have to be scheduled before it is gone. goleak gives it
// less than half a second, which a loaded machine does not; here it has a minute. Only a leak costs that.
package leaks

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long what has been told to end may take.
const patience = time.Minute

// Main runs a package's tests, and fails if goroutines of theirs stay.
func Main(m *testing.M) {
	status := m.Run()
	if err := stay(patience); err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, "leaks:", err)
		status = 1
	}
	os.Exit(status)
}

// stay says which goroutines are still there after so long.
func stay(most time.Duration) error {
	for end := time.Now().Add(most); ; {
		err := goleak.Find()
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}
