package numa

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what is read as what is wanted")

// TestHosts reads hosts of many shapes (promise P16). Each is a file of
// testdata/hosts: the files that the host has, and what is made of them.
func TestHosts(t *testing.T) {
	names, err := filepath.Glob("testdata/hosts/*.txtar")
	if err != nil || len(names) < 20 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			last := &archive.Files[len(archive.Files)-1]
			if last.Name != "want" {
				t.Fatal("the last file must be what is wanted")
			}
			root, err := txtar.FS(&txtar.Archive{Files: archive.Files[:len(archive.Files)-1]})
			if err != nil {
				t.Fatal(err)
			}
			got := describe(New(Options{Root: root, cpus: 6}))
			if *update {
				last.Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(last.Data); got != want {
				t.Errorf("%sgot:\n%swant:\n%s", archive.Comment, got, want)
			}
		})
	}
}

// describe says what a host was taken for.
func describe(h *Host) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n%v\n", h.Topology(), h)
	for _, p := range h.Places() {
		free, err := h.Free(p.Node.ID)
		fmt.Fprintf(&b, "node %d: processors %s, free %d MiB", p.Node.ID, ranges(p.CPUs), free>>20)
		if err != nil {
			b.WriteString(" (not known)")
		}
		b.WriteByte('\n')
	}
	for _, n := range h.Notes() {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return b.String()
}

// ranges is the inverse of ParseList.
func ranges(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if part := fmt.Sprint(list[i]); j > i {
			parts = append(parts, fmt.Sprintf("%s-%d", part, list[j]))
		} else {
			parts = append(parts, part)
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// TestThisHost reads the machine that the test runs on, whatever it is.
func TestThisHost(t *testing.T) {
	h := New(Options{})
	cpus := 0
	for _, p := range h.Places() {
		cpus += len(p.CPUs)
	}
	if cpus == 0 {
		t.Fatal(h)
	}
	t.Log(describe(h))
}
