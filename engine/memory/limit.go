package memory

import (
	"bytes"
	"cmp"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// A Limit is how much memory may be taken, and which setting limits it.
type Limit struct {
	Bytes  uint64
	Source string
}

// Unlimited is the limit of a machine that tells none.
var Unlimited = Limit{1 << 62, "no limit is known"}

// Set returns a limit that somebody has set.
func Set(bytes uint64) Limit { return Limit{bytes, "the limit that was set"} }

// A Machine tells how much memory there is. Its zero value is this machine. It may be used from many
// goroutines.
type Machine struct {
	Root string // of the file system with proc and sys; default "/"
}

// Limit returns asked if it is not 0, otherwise the smallest of MemAvailable, the room left by the
// control groups (version 1 or 2, with their ancestors) and the room left by ulimit -v and -d. Cached
// files count as free memory.
func (m Machine) Limit(asked uint64) Limit {
	if asked > 0 {
		return Set(asked)
	}
	least := Unlimited
	for _, l := range append(append(m.groups(), m.own()...), m.available()) {
		if l.Bytes < least.Bytes {
			least = l
		}
	}
	return least
}

// read returns a file of the machine, nil where there is none.
func (m Machine) read(elem ...string) []byte {
	b, _ := os.ReadFile(filepath.Join(append([]string{cmp.Or(m.Root, "/")}, elem...)...))
	return b // nothing where there is no such limit
}

// available returns MemAvailable of /proc/meminfo.
func (m Machine) available() Limit {
	if kib, ok := field(m.read("proc/meminfo"), "MemAvailable:"); ok {
		return Limit{kib << 10, "available by /proc/meminfo"}
	}
	return Unlimited
}

// These limits count mapped memory, not resident memory: stacks of threads to come, and a heap that
// grows by 4 and by 64 MiB. Builds of 1 M documents failed with 25 MiB more than they had said left.
const (
	spareData      = 48 << 20
	spareAddresses = 128 << 20
)

// own returns the limits of the process itself, less what it will map whatever it does.
func (m Machine) own() (limits []Limit) {
	all, status := m.read("proc/self/limits"), m.read("proc/self/status")
	for _, l := range []struct {
		name, used, option string
		spare              uint64
	}{
		{"Max address space", "VmSize:", "-v", spareAddresses}, {"Max data size", "VmData:", "-d", spareData},
	} {
		_, rest, ok := bytes.Cut(all, []byte(l.name))
		soft, _, _ := bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
		if bytes, known := number(soft); ok && known { // it may be "unlimited"
			used, _ := field(status, l.used)
			limits = append(limits, Limit{bytes - min(used<<10+l.spare, bytes),
				"left by the process's limit, ulimit " + l.option})
		}
	}
	return limits
}

// groupFiles are the names of one version's files.
type groupFiles struct {
	mount, limit, used string
	cached             [2]string // in memory.stat
}

var (
	groupV1 = groupFiles{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
		[2]string{"total_inactive_file", "total_active_file"}}
	groupV2 = groupFiles{"sys/fs/cgroup", "memory.max", "memory.current", [2]string{"inactive_file", "active_file"}}
)

// groups returns the limits of the control groups that the process is in.
func (m Machine) groups() (limits []Limit) {
	for line := range strings.Lines(string(m.read("proc/self/cgroup"))) {
		id, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		files := groupV1
		if id == "0" && controllers == "" {
			files = groupV2
		} else if !strings.Contains(","+controllers+",", ",memory,") {
			continue
		}
		// In a namespace the path may lie outside of the mount; its
		// ancestors then are where its own files are.
		for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
			if l, ok := m.group(files, dir); ok {
				limits = append(limits, l)
			}
			if dir == "/" {
				break
			}
		}
	}
	return limits
}

// group returns what a control group leaves; false where it has no limit.
func (m Machine) group(f groupFiles, dir string) (Limit, bool) {
	limit, ok := number(m.read(f.mount, dir, f.limit)) // "max" is no number
	if !ok || limit >= 1<<60 {
		return Limit{}, false
	}
	used, _ := number(m.read(f.mount, dir, f.used))
	stat := m.read(f.mount, dir, "memory.stat")
	for _, name := range f.cached {
		n, _ := field(stat, name)
		used -= min(n, used)
	}
	return Limit{limit - min(used, limit), "left by the memory limit of control group " + dir}, true
}

// number returns the decimal number that b consists of.
func number(b []byte) (uint64, bool) {
	n, err := strconv.ParseUint(string(bytes.TrimSpace(b)), 10, 64)
	return n, err == nil
}

// field returns the number behind a name at the beginning of a line.
func field(b []byte, name string) (uint64, bool) {
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			return number([]byte(f[1]))
		}
	}
	return 0, false
}
