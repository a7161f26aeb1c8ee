package numa

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// ErrFull is what an error wraps when a node has no room for an arena.
var ErrFull = errors.New("the memory node is too full")

// Beside what the kernel keeps for itself, reserveMin or 1/reservePart of a
// node is left alone, for page tables and for others.
const (
	reserveMin  = 16 << 20
	reservePart = 64
)

// Free returns how many bytes of a node's memory may be bound now: free memory and
// cached files, less a reserve. The error wraps [fs.ErrNotExist]
// where the host does not say.
func (h *Host) Free(node int) (uint64, error) {
	name := fmt.Sprintf("%s/node%d/meminfo", nodeDir, node)
	b, err := fs.ReadFile(h.root, name)
	if err != nil {
		return 0, err
	}
	info := memInfo(string(b))
	total, ok := info["MemTotal"]
	free, has := info["MemFree"]
	if !ok || !has {
		return 0, fmt.Errorf("%s: no MemTotal or MemFree: %w", name, fs.ErrNotExist)
	}
	free += info["Active(file)"] + info["Inactive(file)"]
	keeps := max(total/reservePart, reserveMin)
	if zones, err := fs.ReadFile(h.root, "proc/zoneinfo"); err == nil {
		keeps += kernelKeeps(string(zones), node)
	}
	return free - min(free, keeps), nil
}

// kernelKeeps reads in /proc/zoneinfo what of a node's free memory a process
// does not get: below the mark "high" the kernel looks for memory to take back,
// and soon after for a process to kill; and of the zones for old devices it
// protects some, all of it on a large node.
//
//	Node 0, zone      DMA
//	  pages free     3840
//	        high     98
//	        protection: (0, 2939, 257000)
func kernelKeeps(zoneinfo string, node int) (bytes uint64) {
	var here bool
	var free, high uint64
	for line := range strings.Lines(zoneinfo) {
		f := strings.Fields(strings.NewReplacer(",", " ", "(", " ", ")", " ").Replace(line))
		switch {
		case len(f) == 4 && f[0] == "Node" && f[2] == "zone":
			here = f[1] == strconv.Itoa(node)
		case !here || len(f) < 2:
		case len(f) == 3 && f[0] == "pages" && f[1] == "free":
			free, _ = strconv.ParseUint(f[2], 10, 50)
		case f[0] == "high" && len(f) == 2:
			high, _ = strconv.ParseUint(f[1], 10, 50)
		case f[0] == "protection:": // the last of a zone that is asked for
			protected := uint64(0)
			for _, p := range f[1:] {
				n, _ := strconv.ParseUint(p, 10, 50)
				protected = max(protected, n)
			}
			bytes += min(free, high+protected) * uint64(os.Getpagesize())
			free, high = 0, 0
		}
	}
	return bytes
}

// memInfo reads lines such as "Node 0 MemFree: 1234 kB", in bytes.
func memInfo(s string) map[string]uint64 {
	info := make(map[string]uint64)
	for line := range strings.Lines(s) {
		f := strings.Fields(line)
		if len(f) == 5 && f[4] == "kB" {
			if kib, err := strconv.ParseUint(f[3], 10, 54); err == nil {
				info[strings.TrimSuffix(f[2], ":")] = kib << 10
			}
		}
	}
	return info
}

// room refuses what the node has no room for; a host that does not say has.
func (h *Host) room(node int, bytes uint64) error {
	free, err := h.Free(node)
	if err != nil {
		h.note("free", "free memory of nodes is not known: "+err.Error())
		return nil
	}
	if bytes > free {
		return fmt.Errorf("%w: node %d has room for %d MiB of %d", ErrFull, node, free>>20, (bytes+1<<20-1)>>20)
	}
	return nil
}
