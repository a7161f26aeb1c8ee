package numa

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// ErrFull is wrapped by the error for an arena that does not fit on its node.
var ErrFull = errors.New("the memory node is too full")

// Reserves for page tables and other processes. Each node keeps max(reserveMin, 1/reservePart of its memory) free, in
// addition to the kernel's own reserve.
const (
	reserveMin  = 16 << 20
	reservePart = 64
)

// Free returns the number of bytes of a node that can be bound: free memory and cached files, less a reserve. The
// error wraps [fs.ErrNotExist] if the host does not report it.
func (h *Host) Free(node int) (uint64, error) {
	name := fmt.Sprintf("%s/node%d/meminfo", nodeDir, node)
	b, err := fs.ReadFile(h.root, name)
	if err != nil {
		return 0, err
	}
	info := memInfo(string(b))
	total, ok := info["MemTotal"]
	freeBytes, has := info["MemFree"]
	if !ok || !has {
		return 0, fmt.Errorf("%s: no MemTotal or MemFree: %w", name, fs.ErrNotExist)
	}
	freeBytes += info["Active(file)"] + info["Inactive(file)"]
	reserved := max(total/reservePart, reserveMin)
	if zones, err := fs.ReadFile(h.root, "proc/zoneinfo"); err == nil {
		reserved += kernelKeeps(string(zones), node)
	}
	return freeBytes - min(freeBytes, reserved), nil
}

// kernelKeeps returns the free memory of a node that the kernel withholds from processes, from /proc/zoneinfo. Below
// the mark "high" the kernel reclaims memory, and soon kills a process. It also protects memory of the zones for old
// devices; on a large node it protects all of it.
//
//	Node 0, zone      DMA
//	  pages free     3840
//	        high     98
//	        protection: (0, 2939, 257000)
func kernelKeeps(zoneinfo string, node int) (bytes uint64) {
	var isNode bool
	var free, high uint64
	for line := range strings.Lines(zoneinfo) {
		f := strings.Fields(strings.NewReplacer(",", " ", "(", " ", ")", " ").Replace(line))
		switch {
		case len(f) == 4 && f[0] == "Node" && f[2] == "zone":
			isNode = f[1] == strconv.Itoa(node)
		case !isNode || len(f) < 2:
		case len(f) == 3 && f[0] == "pages" && f[1] == "free":
			free, _ = strconv.ParseUint(f[2], 10, 50)
		case f[0] == "high" && len(f) == 2:
			high, _ = strconv.ParseUint(f[1], 10, 50)
		case f[0] == "protection:": // last line of a zone
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

// memInfo parses lines such as "Node 0 MemFree: 1234 kB". The results are in bytes.
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

// room returns an error if the node has too little free memory. If the host does not report free memory, it returns
// nil.
func (h *Host) room(node int, bytes uint64) error {
	free, err := h.Free(node)
	if err != nil {
		h.note("free", "free memory of nodes is unknown: "+err.Error())
		return nil
	}
	if bytes > free {
		return fmt.Errorf("%w: node %d has %d MiB of free memory, %d are needed", ErrFull, node, free>>20, (bytes+1<<20-1)>>20)
	}
	return nil
}
