package cli

import (
	"strings"
	"testing"
)

// TestNearest checks that a variable with a name similar to one of a flag is distinguished from variables of other
// programs.
func TestNearest(t *testing.T) {
	known := map[string]bool{"NDD_THREADS": true, "NDD_LOG_FORMAT": true, "NDD_K": true, "NDD_LOAD": true}
	for name, want := range map[string]string{
		"NDD_THREDS": "NDD_THREADS", "NDD_THRAEDS": "NDD_THREADS", "NDD_THREADSS": "NDD_THREADS",
		"NDD_LOG_FROMATS": "NDD_LOG_FORMAT",
		"NDD_THRE":        "NDD_THREADS", "NDD_LOCK": "", "NDD_OTHER_PROGRAM": "", "NDD_LOAF": "NDD_LOAD",
	} {
		if got := strings.Join(similarVariables(name, known), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
