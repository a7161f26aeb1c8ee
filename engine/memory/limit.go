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

// A Limit is a number of bytes with its source: the setting that limits them.
type Limit struct {
	Bytes  uint64
	Source string
}

// Unlimited is the limit of a machine that reports none.
var Unlimited = Limit{1 << 62, "no limit is known"}

// Set returns a limit that the user has set.
func Set(bytes uint64) Limit { return Limit{bytes, "the limit that was set"} }

// A Machine reads the available memory. The zero value is this machine. It is safe for concurrent use.
type Machine struct {
	Root string // folder that contains proc and sys; default "/"
}

// Limit returns request if it is not 0. Otherwise it returns the smallest of three values: MemAvailable, the memory
// that the control groups leave, and the memory that ulimit -v and -d leave. Control groups are of version 1 or 2,
// with their ancestors. Cached files count as free memory.
func (m Machine) Limit(request uint64) Limit {
	if request > 0 {
		return Set(request)
	}
	smallest := Unlimited
	for _, l := range append(append(m.groups(), m.processLimits()...), m.available()) {
		if l.Bytes < smallest.Bytes {
			smallest = l
		}
	}
	return smallest
}

// read returns a file of the machine, or nil if it does not exist.
func (m Machine) read(elem ...string) []byte {
	b, _ := os.ReadFile(filepath.Join(append([]string{cmp.Or(m.Root, "/")}, elem...)...))
	return b // nil if there is no such limit
}

// available returns MemAvailable of /proc/meminfo.
func (m Machine) available() Limit {
	if kib, ok := field(m.read("proc/meminfo"), "MemAvailable:"); ok {
		return Limit{kib << 10, "available by /proc/meminfo"}
	}
	return Unlimited
}

// Reserves below the limits of the process, which count mapped memory, not resident memory. They are for the stacks
// of later threads, and for a heap that grows by 4 and 64 MiB. Without them, builds of 1 M documents failed although
// Limit had reported 25 MiB more than they needed.
const (
	spareData      = 48 << 20
	spareAddresses = 128 << 20
)

// processLimits returns the limits of the process, less the memory that it has already mapped and a reserve.
func (m Machine) processLimits() (limits []Limit) {
	text, status := m.read("proc/self/limits"), m.read("proc/self/status")
	for _, l := range []struct {
		name, used, option string
		reserve            uint64
	}{
		{"Max address space", "VmSize:", "-v", spareAddresses}, {"Max data size", "VmData:", "-d", spareData},
	} {
		_, line, ok := bytes.Cut(text, []byte(l.name))
		soft, _, _ := bytes.Cut(bytes.TrimLeft(line, " "), []byte(" "))
		if bytes, known := number(soft); ok && known { // it may be "unlimited"
			used, _ := field(status, l.used)
			limits = append(limits, Limit{bytes - min(used<<10+l.reserve, bytes),
				"left by the process's limit, ulimit " + l.option})
		}
	}
	return limits
}

// groupFiles has the file names of one version of control groups.
type groupFiles struct {
	mount, limit, used string
	cached             [2]string // file caches in memory.stat
}

var (
	groupV1 = groupFiles{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
		[2]string{"total_inactive_file", "total_active_file"}}
	groupV2 = groupFiles{"sys/fs/cgroup", "memory.max", "memory.current", [2]string{"inactive_file", "active_file"}}
)

// groups returns the limits of the control groups of the process.
func (m Machine) groups() (limits []Limit) {
	for line := range strings.Lines(string(m.read("proc/self/cgroup"))) {
		id, fields, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		controllers, group, _ := strings.Cut(fields, ":")
		files := groupV1
		if id == "0" && controllers == "" {
			files = groupV2
		} else if !strings.Contains(","+controllers+",", ",memory,") {
			continue
		}
		// In a namespace the path may be outside of the mount. Its ancestors then contain the group's own files.
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

// group returns the memory that a control group leaves. It returns false if the group has no limit.
func (m Machine) group(f groupFiles, dir string) (Limit, bool) {
	limit, ok := number(m.read(f.mount, dir, f.limit)) // "max" means no limit
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

// number parses a decimal number.
func number(b []byte) (uint64, bool) {
	n, err := strconv.ParseUint(string(bytes.TrimSpace(b)), 10, 64)
	return n, err == nil
}

// field returns the number after name at the beginning of a line.
func field(b []byte, name string) (uint64, bool) {
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			return number([]byte(f[1]))
		}
	}
	return 0, false
}
