package dedup

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// TestRecordsMapped checks that reading records of a file, in order or not, does not keep them in the memory of the
// process.
func TestRecordsMapped(t *testing.T) {
	c := appended(t, ReadOptions{TempDir: t.TempDir()})
	id := strings.Repeat("x", 250)
	const n = 1 << 20
	for i := range n {
		must.Do(t, c.records.append(record{id: id, place: Place{"a file", int64(i)}}))
	}
	must.Do(t, c.end())
	before, maximum := bytesOfFiles(t), 0
	for row := range c.records.iterate(n) {
		if row%1000 == 0 {
			maximum = max(maximum, bytesOfFiles(t)-before)
		}
	}
	if maximum < bytesMapped/2 || maximum > 3*bytesMapped/2 {
		t.Errorf("%d bytes are mapped at most of %d that are read in order", maximum, c.records.text.Len())
	}
	c.records.text.DontNeed()
	for i := range readsMapped {
		c.records.record(Row(i * (n / readsMapped)))
		maximum = max(maximum, bytesOfFiles(t)-before)
	}
	if remaining := bytesOfFiles(t) - before; remaining > maximum/2 {
		t.Errorf("%d bytes are mapped at most for single records, and %d after %d", maximum, remaining, readsMapped)
	}
}

// bytesOfFiles returns the number of bytes of mapped files that are in the memory of this process.
func bytesOfFiles(t *testing.T) (bytes int) {
	t.Helper()
	data, err := os.ReadFile("/proc/self/statm")
	must.Do(t, err)
	var size, resident, shared int
	_, err = fmt.Sscan(string(data), &size, &resident, &shared)
	must.Do(t, err)
	return shared * os.Getpagesize()
}
