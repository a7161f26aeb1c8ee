package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// limits is a part of what Linux has in /proc/self/limits.
func limits(address, data string) string {
	out := "Limit                     Soft Limit           Hard Limit           Units     \n"
	for _, l := range [][2]string{{"Max file size", "unlimited"}, {"Max data size", data},
		{"Max stack size", "8388608"}, {"Max address space", address}} {
		out += fmt.Sprintf("%-25s %-20s %-20s bytes     \n", l[0], l[1], "unlimited")
	}
	return out
}

// TestLimit reads machines of every kind: the free memory, and the source of the limit.
func TestLimit(t *testing.T) {
	const meminfo = "MemTotal:       16000000 kB\nMemFree: 1000 kB\nMemAvailable:    8000000 kB\n"
	for _, c := range []struct {
		name    string
		files   map[string]string
		queries uint64
		want    uint64
		source  string
	}{
		{"nothing known", nil, 0, Unlimited.Bytes, "no limit"},
		{"asked", map[string]string{"proc/meminfo": meminfo}, 5 << 30, 5 << 30, "was set"},
		{"free", map[string]string{"proc/meminfo": meminfo}, 0, 8_000_000 << 10, "meminfo"},
		{"v2 max", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n"}, 0, 8_000_000 << 10, "meminfo"},
		{"v2", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "1000000\n", "sys/fs/cgroup/a/b/memory.current": "400000\n",
			"sys/fs/cgroup/a/b/memory.stat": "anon 1\ninactive_file 100000\nactive_file 50000\n"}, 0, 750_000, "group /a/b"},
		{"v2 parent", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "1000000\n", "sys/fs/cgroup/a/memory.max": "500000\n"}, 0, 500_000, "group /a"},
		{"v2 namespace", map[string]string{"proc/self/cgroup": "0::/not/mounted\n",
			"sys/fs/cgroup/memory.max": "700000\n"}, 0, 700_000, "group /"},
		{"v2 full", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "700000\n",
			"sys/fs/cgroup/memory.current": "900000\n"}, 0, 0, "group /"},
		{"v1", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "5:cpu:/x\n4:cpuset,memory:/job\n",
			"sys/fs/cgroup/memory/job/memory.limit_in_bytes": "3000000\n",
			"sys/fs/cgroup/memory/job/memory.usage_in_bytes": "1000000\n",
			"sys/fs/cgroup/memory/job/memory.stat":           "inactive_file 9\ntotal_inactive_file 600000\n"},
			0, 2_600_000, "group /job"},
		{"v1 without limit", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 0, 8_000_000 << 10, "meminfo"},
		{"ulimit -v", map[string]string{"proc/meminfo": meminfo,
			"proc/self/status": "Name:\tx\nVmSize:\t  100 kB\nVmData:\t  50 kB\n",
			"proc/self/limits": limits("314572800", "unlimited")}, 0, 314_572_800 - 100<<10 - spareAddresses, "ulimit -v"},
		{"ulimit -d", map[string]string{"proc/meminfo": meminfo, "proc/self/status": "VmSize:\t  100 kB\nVmData:\t  50 kB\n",
			"proc/self/limits": limits("unlimited", "51200")}, 0, 0, "ulimit -d"},
		{"ulimit -d, some left", map[string]string{"proc/meminfo": meminfo,
			"proc/self/status": "VmSize:\t  100 kB\nVmData:\t  50 kB\n",
			"proc/self/limits": limits("unlimited", "104857600")}, 0, 104_857_600 - 50<<10 - spareData, "ulimit -d"},
		{"no ulimit", map[string]string{"proc/meminfo": meminfo, "proc/self/limits": limits("unlimited", "unlimited")}, 0,
			8_000_000 << 10, "meminfo"},
		{"nonsense", map[string]string{"proc/meminfo": "MemAvailable: lots\n", "proc/self/cgroup": "x\n0::\n"}, 0,
			Unlimited.Bytes, "no limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			for name, content := range c.files {
				p := filepath.Join(root, name)
				must.Do(t, os.MkdirAll(filepath.Dir(p), 0o755))
				must.Do(t, os.WriteFile(p, []byte(content), 0o644))
			}
			l := Machine{root}.Limit(c.queries)
			if l.Bytes != c.want || !strings.Contains(l.Source, c.source) {
				t.Errorf("%d, %q; want %d, %q", l.Bytes, l.Source, c.want, c.source)
			}
		})
	}
}
