package numa

import (
	"fmt"
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
