package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine/oracle/skewed"
	"ndd/engine/storage/store"
)

// ran runs a command and returns what it wrote.
func ran(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	if status := run(t.Context(), args, nil, &out, &log); status != exitDone {
		t.Fatalf("ndd %s: status %d, %s", strings.Join(args, " "), status, log.String())
	}
	return out.String(), log.String()
}

// TestBuildAsDesigned: build and design give the same answer to the same question, IDs included, with the same
// reasons, time after time, whatever the fingerprints; and the same input gives the same index but for its
// random identity.
func TestBuildAsDesigned(t *testing.T) {
	dir := t.TempDir()
	for i, set := range skewed.Sets(3000, 4) {
		if testing.Short() && i%3 > 0 {
			continue
		}
		file := filepath.Join(dir, "base.bin")
		if err := os.WriteFile(file, store.Bytes64(set.Fingerprints), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, flags := range [][]string{{"-k", "3"}, {"-k", "5", "--layout", "planar"}, {"-k", "3", "--memory", "100KiB"}} {
			question := append([]string{"design", "--format", "json", "--sample", file}, flags...)
			said, _ := ran(t, question...)
			var p struct {
				Choice struct {
					Name   string `json:"design"`
					Layout string
				}
				Why []string
			}
			if err := json.Unmarshal([]byte(said), &p); err != nil {
				t.Fatal(err)
			}
			if again, _ := ran(t, question...); again != said {
				t.Errorf("%s, %v: %s\nthen\n%s", set.Name, flags, said, again)
			}
			var sizes []int64
			for n := range 2 {
				index := filepath.Join(dir, fmt.Sprint(i, n, flags))
				_, log := ran(t, append([]string{"build", "-v", "-o", index, file}, flags...)...)
				for _, want := range append(p.Why, fmt.Sprintf("(design %s, %s layout)", p.Choice.Name, p.Choice.Layout)) {
					if !strings.Contains(log, want) {
						t.Errorf("%s, %v: build does not say %q:\n%s", set.Name, flags, want, log)
					}
				}
				size := int64(0)
				for _, data := range contents(t, index) {
					size += int64(len(data))
				}
				sizes = append(sizes, size)
			}
			if sizes[0] != sizes[1] {
				t.Errorf("%s, %v: indexes of %d bytes", set.Name, flags, sizes)
			}
		}
	}
}

// TestDesignEnds: design hears its context while it reads a sample and while it plans.
func TestDesignEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "base.bin")
	if err := os.WriteFile(file, store.Bytes64(skewed.Sets(3000, 4)[0].Fingerprints), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"design", "--sample", file}, {"design", "-n", "1e6"}, {"build", "-o", filepath.Join(t.TempDir(), "i"), file}} {
		var out, log bytes.Buffer
		if status := run(ctx, args, nil, &out, &log); status == exitDone || out.Len() > 0 {
			t.Errorf("ndd %v: status %d of what was called off; %s%s", args, status, out.String(), log.String())
		}
	}
}
