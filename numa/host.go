package numa

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"sync"
)

// A Host describes the part of the machine that this process may use. It also collects notes about unavailable
// features. It is safe for concurrent use.
type Host struct {
	topology Topology
	nodes    []UsableNode
	root     fs.FS
	inject   func(call string) error // replaces calls in tests; may be nil
	log      *slog.Logger

	mu    sync.Mutex
	noted map[string]bool
	notes []string
}

// Options configures how to read a host.
type Options struct {
	Root fs.FS        // folder with proc and sys; default os.DirFS("/")
	Log  *slog.Logger // receives a line for each unavailable feature; default: none

	// Inject is for tests. If it returns an error for a call of [Injectable], that system call fails with this error.
	Inject func(call string) error

	cpus int // number of processors if the host does not report them; default runtime.NumCPU
}

// New reads the host. It does not fail: an inconsistent host becomes one node with all processors.
func New(o Options) *Host {
	h := &Host{root: o.Root, log: o.Log, inject: o.Inject, noted: make(map[string]bool)}
	if h.root == nil {
		h.root = os.DirFS("/")
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if o.cpus == 0 {
		o.cpus = runtime.NumCPU()
	}
	var err error
	if h.topology, err = read(h.root, single(o.cpus)); err != nil {
		h.note("topology", "one memory node is assumed: "+err.Error())
	}
	permission, err := readPermission(h.root)
	if err != nil {
		h.note("allowed", "what this process may use is unknown: "+err.Error())
	}
	if h.nodes = h.topology.Usable(permission); len(h.nodes) == 0 {
		h.note("nodes", "no memory node can be used: one is assumed")
		h.topology = single(o.cpus)
		h.nodes = single(o.cpus).Usable(Permission{CPUs: permission.CPUs})
	}
	return h
}

// Topology returns all nodes of the host, usable or not.
func (h *Host) Topology() Topology { return h.topology }

// Nodes returns the usable nodes, ascending by ID. There is at least one.
func (h *Host) Nodes() []UsableNode { return h.nodes }

// Notes returns the unavailable features in order of discovery, each once.
func (h *Host) Notes() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.notes...)
}

// note logs an unavailable feature. It ignores further notes with the same key.
func (h *Host) note(key, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.noted[key] {
		return
	}
	h.noted[key] = true
	h.notes = append(h.notes, text)
	h.log.Warn("memory nodes: " + text)
}

// Note logs a feature that a caller had to do without, once for each text.
func (h *Host) Note(text string) { h.note(text, text) }

// Try binds a page and pins a thread on every node, so that [Host.Notes] lists the unavailable features.
func (h *Host) Try() {
	for _, p := range h.nodes {
		a, err := h.Arena(p, pageBytes)
		if err != nil {
			h.Note(err.Error())
			continue
		}
		a.Placement()
		a.Free()
	}
}

// String returns a list of the usable nodes: "2 usable nodes: 0 (16 processors, 32768 MiB), ...".
func (h *Host) String() string {
	list := make([]string, len(h.nodes))
	for i, p := range h.nodes {
		adjective := map[bool]string{true: "borrowed "}[p.Borrowed]
		list[i] = fmt.Sprintf("%d (%d %sprocessors, %d MiB)", p.ID, len(p.CPUs), adjective, p.MemoryBytes>>20)
	}
	return joinList("usable node", list)
}
