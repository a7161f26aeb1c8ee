package numa

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"
)

// host draws a host: for each node its CPU list and distances.
func host(online string, nodes map[int][2]string) fstest.MapFS {
	root := fstest.MapFS{nodeDir + "/online": {Data: []byte(online + "\n")}}
	for id, n := range nodes {
		dir := fmt.Sprintf("%s/node%d", nodeDir, id)
		root[dir+"/cpulist"] = &fstest.MapFile{Data: []byte(n[0] + "\n")}
		root[dir+"/distance"] = &fstest.MapFile{Data: []byte(n[1] + "\n")}
		root[dir+"/meminfo"] = &fstest.MapFile{Data: fmt.Appendf(nil,
			"Node %d MemTotal:       %d kB\nNode %d MemFree: 1 kB\n", id, 1024*(id+1), id)}
	}
	return root
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name string
		root fstest.MapFS
		want Topology
		says string
	}{
		{"two nodes", host("0-1", map[int][2]string{0: {"0-1,4-5", "10 21"}, 1: {"2-3", "21 10"}}),
			Topology{Known: true, Nodes: []Node{
				{0, []int{0, 1, 4, 5}, 1 << 20, []int{10, 21}},
				{1, []int{2, 3}, 2 << 20, []int{21, 10}},
			}}, "2 nodes: 0 (4 processors, 1 MiB), 1 (2 processors, 2 MiB)"},
		{"sparse, one without processors", host("0,8", map[int][2]string{0: {"0", "10 40"}, 8: {"", "40 10"}}),
			Topology{Known: true, Nodes: []Node{
				{0, []int{0}, 1 << 20, []int{10, 40}},
				{8, nil, 9 << 20, []int{40, 10}},
			}}, "2 nodes: 0 (1 processors, 1 MiB), 8 (0 processors, 9 MiB)"},
	} {
		got, err := read(c.root, single(4))
		if err != nil || !reflect.DeepEqual(got, c.want) || got.String() != c.says {
			t.Errorf("%s: %v %v", c.name, got, err)
		}
	}
	if got, err := read(fstest.MapFS{}, single(4)); err != nil || got.Known || len(got.Nodes) != 1 ||
		len(got.Nodes[0].CPUs) == 0 {
		t.Errorf("no files: %v %v", got, err)
	}
}

func TestReadBad(t *testing.T) {
	for name, root := range map[string]fstest.MapFS{
		"online":    host("zero", nil),
		"empty":     host("", nil),
		"missing":   host("0-1", map[int][2]string{0: {"0", "10 20"}}),
		"cpus":      host("0", map[int][2]string{0: {"5-2", "10"}}),
		"distances": host("0", map[int][2]string{0: {"0", "10 20"}}),
		"distance":  host("0", map[int][2]string{0: {"0", "far"}}),
	} {
		if got, err := read(root, single(4)); err == nil || got.Known || len(got.Nodes) != 1 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestParseList(t *testing.T) {
	for s, want := range map[string][]int{"": nil, "\n": nil, "3": {3}, "0-2,7": {0, 1, 2, 7}, "4,1-2,2": {1, 2, 4}} {
		if got, err := parseList(s); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v %v", s, got, err)
		}
	}
	for _, s := range []string{"-", "1-", "a", "2-1", "0-99999999", ",", "1,,2", "-1"} {
		if got, err := parseList(s); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func FuzzParseList(f *testing.F) {
	f.Add("0-3,8")
	f.Fuzz(func(t *testing.T, s string) {
		list, err := parseList(s)
		if err == nil && !slices.IsSorted(list) {
			t.Fatal(list)
		}
	})
}
