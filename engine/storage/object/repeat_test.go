package object

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestRepeat: six attempts take the five waits between them, and none behind the last.
func TestRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, n, broken := time.Now(), 0, errors.New("broken")
		err := repeat(t.Context(), func() error { n++; return broken })
		if took := time.Since(began); !errors.Is(err, broken) || n != attemptsMax || took != 31*backoffFirst {
			t.Errorf("%v after %d attempts in %v", err, n, took)
		}
	})
}
