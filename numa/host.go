package numa

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"sync"
)

// A Host is what this process may use of the machine that it runs on, and notes on what could not be had. Its methods
// may be called from any goroutine.
type Host struct {
	topology Topology
	nodes    []UsableNode
	root     fs.FS
	inject   func(call string) error // of tests; nil for none
	log      *slog.Logger

	mu    sync.Mutex
	said  map[string]bool
	notes []string
}

// Options configures how to read a host.
type Options struct {
	Root fs.FS        // with proc and sys; default os.DirFS("/")
	Log  *slog.Logger // gets a line for each thing that cannot be had; default none

	// Inject is for tests: what it returns for one of [Injectable] is what
	// that system call fails with, unless it is nil.
	Inject func(call string) error

	cpus int // of a host that does not say; default runtime.NumCPU
}

// New reads the host. It does not fail: a host that makes no sense is one node
// with all processors.
func New(o Options) *Host {
	h := &Host{root: o.Root, log: o.Log, inject: o.Inject, said: make(map[string]bool)}
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
	allowed, err := readAllowed(h.root)
	if err != nil {
		h.note("allowed", "what this process may use is not known: "+err.Error())
	}
	if h.nodes = h.topology.Usable(allowed); len(h.nodes) == 0 {
		h.note("nodes", "no memory node can be used: one is assumed")
		h.topology = single(o.cpus)
		h.nodes = single(o.cpus).Usable(Allowed{CPUs: allowed.CPUs})
	}
	return h
}

// Topology returns the nodes of the host, whatever of it this process may use.
func (h *Host) Topology() Topology { return h.topology }

// Nodes returns the nodes where memory and work may be put, ascending by ID; there is at least one.
func (h *Host) Nodes() []UsableNode { return h.nodes }

// Notes returns what could not be had, each once, in the order in which that was
// found.
func (h *Host) Notes() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.notes...)
}

// note logs what cannot be had; of one key only the first.
func (h *Host) note(key, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.said[key] {
		return
	}
	h.said[key] = true
	h.notes = append(h.notes, text)
	h.log.Warn("memory nodes: " + text)
}

// Note logs what its user had to do without, once for each text.
func (h *Host) Note(text string) { h.note(text, text) }

// Try binds a page and pins a thread on every node, so that [Host.Notes] tell
// what this host does not give.
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
		borrowed := map[bool]string{true: "borrowed "}[p.Borrowed]
		list[i] = fmt.Sprintf("%d (%d %sprocessors, %d MiB)", p.ID, len(p.CPUs), borrowed, p.MemoryBytes>>20)
	}
	return listed("usable node", list)
}
