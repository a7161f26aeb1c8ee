package input

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// tree writes files below a new folder and makes it the working directory.
func tree(t *testing.T, files map[string]string) {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(content), 0o644))
	}
	t.Chdir(root)
}

// TestBlobs checks that a Hugging Face cache is read by the names of its links, each file once. A file without a link
// is read by its own name. A folder that only has the name "blobs" is read like any other.
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

// TestLinks follows links in a folder to files, each once.
func TestLinks(t *testing.T) {
	tree(t, map[string]string{"hub/blobs/1": "one", "hub/blobs/2": "two", "hub/.cache/3": "three", "hub/other/a.txt": "a"})
	for name, to := range map[string]string{"linked": "hub/blobs", "hub/s/a.txt": "../blobs/1",
		"hub/s/b.txt": "../blobs/2", "hub/s/b2.txt": "b.txt", "hub/s/c.txt": "../.cache/3",
		"hub/s/loop": "loop", "hub/s/none": "../none", "hub/s/up": ".."} {
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(t, os.Symlink(to, name))
	}
	for _, c := range []struct{ inputs, want string }{
		// Out of the folder named: one link to each file.
		{"hub/s", "hub/s/a.txt: one hub/s/b.txt: two hub/s/b2.txt again hub/s/c.txt: three hub/s/loop special " +
			"hub/s/none special hub/s/up special"},
		// In the folder: files that are read anyway are not read through a link, and hidden files are.
		{"hub", "hub/.cache hidden hub/blobs/1: one hub/blobs/2: two hub/other/a.txt: a hub/s/a.txt again hub/s/b.txt again " +
			"hub/s/b2.txt again hub/s/c.txt: three hub/s/loop special hub/s/none special hub/s/up special"},
		// A folder that is named by a link.
		{"linked", "linked/1: one linked/2: two"},
		{"linked/", "linked/1: one linked/2: two"},
		// To another input.
		{"hub/s hub/b*/1", "hub/s/a.txt again hub/s/b.txt: two hub/s/b2.txt again hub/s/c.txt: three hub/s/loop special " +
			"hub/s/none special hub/s/up special hub/blobs/1: one"},
	} {
		var got []string
		meter := &Meter{}
		for f, err := range Files(t.Context(), strings.Fields(c.inputs)) {
			if skip, ok := err.(*Skip); ok {
				got = append(got, skip.Source+" "+string(skip.Reason))
				continue
			}
			must.Do(t, err)
			src, err := f.Open(t.Context(), nil, meter)
			must.Do(t, err)
			content, err := io.ReadAll(src)
			must.Do(t, err)
			src.Close()
			got = append(got, f.Path+": "+string(content))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.inputs, strings.Join(got, " "), c.want)
		}
	}
}
