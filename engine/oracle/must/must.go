// Package must ends tests after an unexpected error, a missing panic or a timeout.
package must

import (
	"context"
	"os"
	"testing"
	"time"
)

// A test is a test, a benchmark or a check of a property.
type test interface {
	Helper()
	Fatal(args ...any)
}

// Do ends the test if there is an error.
func Do(t test, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Read returns the content of the file at path.
func Read(t test, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	Do(t, err)
	return content
}

// Panic ends the test unless f panics. text describes the call, which only a programming error makes.
func Panic(t test, text string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Fatal("no panic: " + text)
		}
	}()
	f()
}

// Cancelled returns a cancelled context.
func Cancelled(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// Eventually waits until condition returns true. It ends the test after two minutes, more than a loaded
// machine takes.
func Eventually(t test, task string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain: " + task)
		}
	}
}
