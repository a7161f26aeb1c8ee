package mapreduce_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.org/ndd/engine/mapreduce"
	"example.org/ndd/engine/oracle/must"
)

// TestStatus checks that a task reports its status even if its input pauses. Frameworks kill tasks that are silent for
// ten minutes.
func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, w := io.Pipe()
		var out bytes.Buffer
		var messages []string
		done := make(chan error)
		go func() {
			done <- mapreduce.Map(t.Context(), mapreduce.Pairs{K: 3},
				mapreduce.Options{In: in, Out: &out, Partitions: 64, Status: func(m string) { messages = append(messages, m) }})
		}()
		if _, err := io.WriteString(w, fingerprintLines([]uint64{1, 2, 3})); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2*mapreduce.StatusEvery + mapreduce.StatusEvery/2) // the clock of the test
		w.Close()
		must.Do(t, <-done)
		if len(messages) != 2 || !strings.Contains(messages[1], "map: 3 records in") {
			t.Errorf("it said %q", messages)
		}
	})
}
