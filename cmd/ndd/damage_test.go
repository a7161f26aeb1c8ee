package main

import (
	"bytes"
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var damages = flag.Int("damages", 1000, "files that TestDamagedIndex damages")

// TestDamagedIndex is the promise that what is present but bad is not absent. An
// index with one flipped bit, or cut short, ends batch, query and serve with
// status 3, the file's name, and no answer at all.
func TestDamagedIndex(t *testing.T) {
	n := *damages
	if testing.Short() {
		n /= 5
	}
	golden := filepath.Join("..", "..", "testdata", "golden", "v1")
	rng := rand.New(rand.NewPCG(6, 6))
	for _, layout := range []string{"planar", "huffman"} {
		dir := filepath.Join(t.TempDir(), "index")
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(golden, layout))); err != nil {
			t.Fatal(err)
		}
		commands := [][]string{
			{"batch", "-i", dir, filepath.Join(golden, "pages.ndf")},
			{"batch", "--checksums", "fast", "--preload", "-i", dir, filepath.Join(golden, "pages.ndf")}, // all sections are small
			{"query", "-i", dir, "0123456789abcdef"},
			{"serve", "-i", dir, "--listen", "127.0.0.1:0", "--admin", "off"},
			{"check", dir},
			{"stats", dir},
			{"inspect", dir},
		}
		ask := func(args []string) (status int, out, err string) {
			ctx, cancel := context.WithTimeout(t.Context(), waitMax)
			defer cancel()
			var stdout, stderr bytes.Buffer
			status = run(ctx, args, strings.NewReader(""), &stdout, &stderr)
			return status, stdout.String(), stderr.String()
		}
		for _, args := range commands[:3] {
			if status, _, err := ask(args); status != exitDone {
				t.Fatalf("%v, sound: status %d, %s", args, status, err)
			}
		}
		for i := range n / 2 {
			name := []string{"manifest", "00000001.segment"}[i%2]
			path := filepath.Join(dir, name)
			good, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			bad := bytes.Clone(good)
			at := rng.IntN(len(bad))
			if bad[at] ^= 1 << rng.IntN(8); i%5 == 4 {
				bad = bad[:at]
			}
			if err := os.WriteFile(path, bad, 0o644); err != nil {
				t.Fatal(err)
			}
			args := commands[i/2%len(commands)]
			status, out, said := ask(args)
			if status != exitCorrupt || args[0] != "inspect" && out != "" || !strings.Contains(said, path+": ") {
				t.Errorf("%s, byte %#x of %d, %v: status %d, %q, %q", name, at, len(bad), args, status, out, said)
			}
			if err := os.WriteFile(path, good, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
