package document

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ndd/engine/oracle/must"
)

// TestBlobs: a Hugging Face cache is read by the names of its links, each file once; what no link leads to is read by
// its own name. A folder of that name alone is a folder like others.
func TestBlobs(t *testing.T) {
	tree(t, map[string]string{"hub/d/blobs/1": "one", "hub/d/blobs/2": "two", "hub/d/blobs/3": "three",
		"hub/d/snapshots/old/a.txt": "a", "blobs/4": "four"})
	for link, to := range map[string]string{"old/one.txt": "1", "new/one.txt": "1", "new/two.txt": "2"} {
		link = filepath.Join("hub/d/snapshots", link)
		must.Do(t, os.MkdirAll(filepath.Dir(link), 0o755))
		must.Do(t, os.Symlink("../../blobs/"+to, link))
	}
	for _, root := range []string{"hub", "hub/d", "."} {
		var got []string
		again := 0
		for f, err := range Files(t.Context(), []string{root}) {
			if skip, ok := errors.AsType[*Skip](err); ok && skip.Reason == Again {
				again++
				continue
			}
			must.Do(t, err)
			got = append(got, filepath.Clean(f.Path))
		}
		want := []string{"hub/d/snapshots/new/one.txt", "hub/d/snapshots/new/two.txt", "hub/d/snapshots/old/a.txt",
			"hub/d/blobs/3"}
		if root == "." {
			want = append([]string{"blobs/4"}, want...)
		}
		if diff := cmp.Diff(want, got); diff != "" || again != 3 {
			t.Errorf("%s: %d skips, %s", root, again, diff)
		}
	}
}
