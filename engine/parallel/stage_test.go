package parallel

import (
	"bytes"
	"runtime/pprof"
	"strings"
	"testing"

	"ndd/engine/oracle/must"
)

// label returns the line of labels of the goroutine that has any, as a profile of goroutines has
// it.
func label(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, pprof.Lookup("goroutine").WriteTo(&b, 1))
	for line := range strings.Lines(b.String()) {
		if labels, ok := strings.CutPrefix(line, "# labels: "); ok {
			return strings.TrimSpace(labels)
		}
	}
	return ""
}

// TestStages: a stage is a label while somebody wants that, until the next one, and nothing
// otherwise.
func TestStages(t *testing.T) {
	StageScan.Begin()
	if got := label(t); got != "" {
		t.Errorf("%s, and nobody wants labels", got)
	}
	stop := LabelStages()
	for stage, want := range map[Stage]string{StagePermute: "permute", StageLocate: "locate", StageScan: "scan",
		StageVerify: "verify", StageNames: "names"} {
		stage.Begin()
		if got, want := label(t), `{"stage":"`+want+`"}`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	EndStage()
	if got := label(t); got != "" {
		t.Errorf("%s after the end", got)
	}
	stop()
	StageScan.Begin()
	if got := label(t); got != "" {
		t.Errorf("%s, and nobody wants labels any more", got)
	}
}
