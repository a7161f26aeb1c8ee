package main

import (
	"bytes"
	"cmp"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
)

var damages = flag.Int("damages", 0, "files that TestDamagedIndex damages; 0: 200, 1000 with -long")

// TestDamagedIndex checks that damaged data is never treated as missing data. If an index has a flipped bit or is
// truncated, batch, query and serve end with status 3, name the file, and give no answer.
func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	n := cmp.Or(*damages, long.Or(200, 1000))
	golden := filepath.Join("..", "..", "testdata", "golden", "v1")
	rng := rand.New(rand.NewPCG(6, 6))
	for _, layout := range []string{"planar", "huffman"} {
		dir := copyOf(t, filepath.Join(golden, layout))
		commands := [][]string{
			{"batch", "-i", dir, filepath.Join(golden, "pages.ndf")},
			{"query", "--checksums", "fast", "--preload", "-i", dir, "0123456789abcdef"}, // all sections are small
			{"query", "-i", dir, "0123456789abcdef"},
			{"serve", "-i", dir, "--listen", "127.0.0.1:0", "--admin", "off"},
			{"check", dir},
			{"info", dir},
			{"info", "--sections", dir},
		}
		for _, args := range commands[:3] {
			ran(t, exitDone, args...)
		}
		for i := range n / 2 {
			name := []string{"manifest", "00000001.segment"}[i%2]
			path := filepath.Join(dir, name)
			good, err := os.ReadFile(path)
			must.Do(t, err)
			bad := bytes.Clone(good)
			offset := rng.IntN(len(bad))
			if bad[offset] ^= 1 << rng.IntN(8); i%5 == 4 {
				bad = bad[:offset]
			}
			writeFile(t, path, bad)
			args := commands[i/2%len(commands)]
			status, out, messages := onMachine(t, memory.Machine{}, "", args...)
			if status != exitCorrupt || out != "" || !strings.Contains(messages, path+": ") {
				t.Errorf("%s, byte %#x of %d, %v: status %d, %q, %q", name, offset, len(bad), args, status, out, messages)
			}
			writeFile(t, path, good)
		}
	}
}
