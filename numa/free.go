package numa

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// ErrFull is what an error wraps when a node has no room for an arena.
var ErrFull = errors.New("the memory node is too full")

// reserveLeast and 1/reservePart of a node are left alone: the kernel keeps
// some of it for itself, and begins to kill before the last page is used.
const (
	reserveLeast = 16 << 20
	reservePart  = 64
)

// Free is how many bytes of a node's memory may be bound now: what is free and
// what is cached of files, less a reserve. The error wraps [fs.ErrNotExist]
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
	return free - min(free, max(total/reservePart, reserveLeast)), nil
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

// freeHuge is how many bytes of a node's pool of 2 MiB pages are free.
func (h *Host) freeHuge(node int) uint64 {
	b, err := fs.ReadFile(h.root, fmt.Sprintf("%s/node%d/hugepages/hugepages-2048kB/free_hugepages", nodeDir, node))
	if err != nil {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 40)
	if err != nil {
		return 0
	}
	return n * hugeBytes
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
