package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
)

// TestBuildAsDesigned checks that build and design choose the same tables for the same flags, with the same reasons.
// The same input gives the same index, except for its random identity.
func TestBuildAsDesigned(t *testing.T) {
	questions := [][]string{{"-k", "3"}, {"-k", "5", "--layout", "planar"}, {"-k", "3", "--memory", "100KiB"}}
	for i, set := range sets.Skewed(3000, 4) {
		if i%5 > 0 && !long.Form() {
			continue
		}
		file, flags := writePrints(t, set.Base), questions[i%len(questions)]
		question := append([]string{"design", "--reference", "--format", "json", "--sample", file}, flags...)
		messages, _ := ran(t, exitDone, question...)
		var p struct {
			Choice struct {
				Name   string `json:"design"`
				Layout string
			}
			Why []string
		}
		must.Do(t, json.Unmarshal([]byte(messages), &p))
		if again, _ := ran(t, exitDone, question...); again != messages {
			t.Errorf("%s, %v: %s\nthen\n%s", set.Name, flags, messages, again)
		}
		var sizes [2]int
		for n := range sizes {
			index := filepath.Join(t.TempDir(), "index")
			_, log := ran(t, exitDone, append([]string{"build", "-v", "-o", index, file}, flags...)...)
			for _, want := range append(p.Why, fmt.Sprintf("(design %s, %s layout)", p.Choice.Name, p.Choice.Layout)) {
				if !strings.Contains(log, want) {
					t.Errorf("%s, %v: build does not say %q:\n%s", set.Name, flags, want, log)
				}
			}
			for _, data := range contents(t, index) {
				sizes[n] += len(data)
			}
		}
		if sizes[0] != sizes[1] {
			t.Errorf("%s, %v: indexes of %d bytes", set.Name, flags, sizes)
		}
	}
}

// TestReadersEnd checks that commands that read all fingerprints end with their context, not after the last
// fingerprint.
func TestReadersEnd(t *testing.T) {
	file := writePrints(t, sets.Skewed(3000, 4)[0].Base)
	for _, args := range [][]string{{"design", "--sample", file}, {"design", "-n", "1e6"},
		{"info", "--sections", file}, {"build", "-o", filepath.Join(t.TempDir(), "i"), file}} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := runOn(ctx, nil, args); exitStatus(ctx, err) != exitInterrupted {
			t.Errorf("ndd %v: %v", args, err)
		}
	}
}
