package store

import (
	"encoding/binary"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/minio/highwayhash"

	"example.org/ndd/engine/oracle/must"
)

// TestWorkedExample compares the example of FORMAT.md with the file, and its key with the checksum.
func TestWorkedExample(t *testing.T) {
	page := must.Read(t, "FORMAT.md")
	file := must.Read(t, filepath.Join("..", "..", "..", "testdata", "golden", "v1", "planar", "manifest"))
	lines := regexp.MustCompile(`(?m)^    ([0-9a-f]{8}): ( {17})?([0-9a-f]{16})( [0-9a-f]{16})? `).FindAllSubmatch(page,
		-1)
	if len(lines) < 15 {
		t.Fatalf("%d lines of an example", len(lines))
	}
	for _, l := range lines {
		pos, _ := hex.DecodeString(string(l[1]))
		want, err := hex.DecodeString(strings.TrimSpace(string(l[3]) + strings.TrimSpace(string(l[4]))))
		must.Do(t, err)
		from := int(binary.BigEndian.Uint32(pos))
		if got := file[from:min(from+len(want), len(file))]; string(got) != string(want) {
			t.Errorf("at %#x the file has %x, the page %x", from, got, want)
		}
	}
	key, err := hex.DecodeString("e979ad8992ac1a73" + "8647422256da639e" + "0100000000000000" + "0000000000000000")
	must.Do(t, err)
	if sum := highwayhash.Sum64(file[0x1000:0x2000], key); sum != binary.LittleEndian.Uint64(file[0x2000:]) {
		t.Errorf("the sum is %#x", sum)
	}
}
