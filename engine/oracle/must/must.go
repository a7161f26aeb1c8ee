// Package must ends tests that meet an error or no panic, or wait in vain.
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

// Panic ends the test unless f panics, called as what only a mistake of a programmer does.
func Panic(t test, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Fatal("no panic: " + what)
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

// Eventually waits until is returns true. It ends the test after two minutes, more than a loaded
// machine takes.
func Eventually(t test, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain: " + what)
		}
	}
}
