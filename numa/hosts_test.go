package numa

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"example.org/ndd/engine/oracle/must"
)

var update = flag.Bool("update", false, "write what is read as what is wanted")

// TestHosts reads hosts of many shapes. Each is a file of testdata/hosts with the system files of the host and the
// expected description.
func TestHosts(t *testing.T) {
	names, err := filepath.Glob("testdata/hosts/*.txtar")
	if err != nil || len(names) < 20 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			must.Do(t, err)
			last := &archive.Files[len(archive.Files)-1]
			if last.Name != "want" {
				t.Fatal("the last file must be named want")
			}
			root, err := txtar.FS(&txtar.Archive{Files: archive.Files[:len(archive.Files)-1]})
			must.Do(t, err)
			got := describe(New(Options{Root: root, cpus: 6}))
			if *update {
				last.Data = []byte(got)
				must.Do(t, os.WriteFile(name, txtar.Format(archive), 0o644))
				return
			}
			if want := string(last.Data); got != want {
				t.Errorf("%sgot:\n%swant:\n%s", archive.Comment, got, want)
			}
		})
	}
}

// describe returns the description of a host.
func describe(h *Host) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n%v\n", h.Topology(), h)
	for _, p := range h.Nodes() {
		free, err := h.Free(p.ID)
		fmt.Fprintf(&b, "node %d: processors %s, free %d MiB", p.ID, ranges(p.CPUs), free>>20)
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

// ranges is the inverse of parseList.
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

// TestThisHost reads the machine that runs the test.
func TestThisHost(t *testing.T) {
	h := New(Options{})
	cpus := 0
	for _, p := range h.Nodes() {
		cpus += len(p.CPUs)
	}
	if cpus == 0 {
		t.Fatal(h)
	}
	t.Log(describe(h))
}

// FuzzHost reads inconsistent hosts. They still have a node, and its free memory can be read.
func FuzzHost(f *testing.F) {
	f.Add("0-1", "0-3", "Node 0 MemTotal: 100 kB\nNode 0 MemFree: 50 kB\n", "10 20",
		"Cpus_allowed_list:\t0-3\nMems_allowed_list:\t0-1\n",
		"Node 0, zone DMA\n pages free 5\n high 3\n protection: (0, 9)\n")
	f.Fuzz(func(t *testing.T, online, cpus, memory, distance, status, zones string) {
		root := fstest.MapFS{
			nodeDir + "/online": {Data: []byte(online)}, "proc/self/status": {Data: []byte(status)},
			"proc/zoneinfo": {Data: []byte(zones)},
		}
		for _, n := range []string{"node0", "node1"} {
			for name, text := range map[string]string{"cpulist": cpus, "meminfo": memory, "distance": distance} {
				root[nodeDir+"/"+n+"/"+name] = &fstest.MapFile{Data: []byte(text)}
			}
		}
		h := New(Options{Root: root})
		if len(h.Nodes()) == 0 {
			t.Fatal("no node")
		}
		describe(h)
	})
}
