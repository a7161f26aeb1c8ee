package main

import (
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine"
	"ndd/engine/index/live"
	"ndd/engine/oracle/long"
	"ndd/engine/oracle/sets"
)

// TestBuildKilled: what stands under the name of an index whose build was killed or interrupted is
// whole and sound, or nothing does. A kill may leave a hidden folder, which a query for the index
// names.
func TestBuildKilled(t *testing.T) {
	base := writePrints(t, sets.All(long.Or(50_000, 200_000), 0, 3, 5)[0].Base)
	killing{
		moments: long.Or(2, 5),
		args: func(out string) []string {
			return []string{"build", "-o", filepath.Join(out, "index"), "--tables", "10", base}
		},
		results: func(out string) map[string]string {
			found := map[string]string{}
			for _, name := range left(t, out) {
				if found[name] = ""; name != "index" {
					continue
				}
				x, err := engine.Open(t.Context(), filepath.Join(out, name), engine.OpenOptions{})
				if err == nil {
					err = x.Check(t.Context())
					x.Close()
				}
				if found[name] = "sound"; err != nil {
					found[name] = err.Error()
				}
			}
			return found
		},
		killed: func(out string, left []string) {
			if len(left) == 0 || left[0] == "index" {
				return
			}
			_, err := live.ManifestPath(filepath.Join(out, "index"))
			if len(left) > 1 || !strings.HasPrefix(left[0], ".index.tmp-") || err == nil ||
				!strings.Contains(err.Error(), left[0]+" is beside it") {
				t.Errorf("killed: %v is left; %v", left, err)
			}
		},
		clear: []string{"index"},
	}.test(t)
}
