// Package crash simulates power cuts. It creates the folder that a program would find after a power cut.
//
//	program --disk.Disk--> real folder            every call is made as usual ...
//	             |
//	         Recorder: create a, write a, sync a, sync folder, Mark(ack 1), write b ...
//	             |
//	         Cut(dir, State{After: 5, Keep: 50, Seed: 7})
//	             v
//	         another folder: a possible state of the disk after the 5th call
//
// Durable data survives: the content of a file that was synced, the names in a folder that was synced, and both if the
// file system was synced. Each other change may be lost: a sector of 512 bytes, a length or a name. A state keeps none
// of these changes, half of them by chance, or all. Real file systems keep some order, so a program that survives these
// states also survives theirs.
//
// One run of a program has a state for each call, fraction and seed. Marks record the promises of the program. The
// package is for tests.
package crash

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"example.org/ndd/engine/storage/disk"
)

// sectorBytes is the size that a disk writes completely or not at all.
const sectorBytes = 512

// A node is a file, or a folder with entries. The program sees entries and end.
type node struct {
	entries map[string]*node // nil: a file
	end     int64            // offset of the next write without an offset, for a file
}

// An event is a call that ended, or a mark.
type event struct {
	call   disk.Call
	node   *node  // file or folder that the call is about
	starts int    // sync: number of events before it began; it covers these
	offset int64  // write, truncate
	data   []byte // write
	dir    *node  // create, mkdir, rename, remove, link: the folder whose names change
	name   string // name in dir; the new name for a rename
	old    string // rename, remove: the removed name
	mark   any
}

// A Recorder records the calls to a disk. Its methods may be called from many goroutines.
type Recorder struct {
	t      testing.TB
	base   string
	mu     sync.Mutex
	root   *node
	open   map[string]*node // files by the name that they were created or opened under
	starts map[*disk.Op]int // calls under way
	events []event
	start  int // number of events that describe the initial content
}

// Record returns a recorder of the calls on paths in the folder base. Its present content counts as
// durable.
func Record(t testing.TB, base string) *Recorder {
	t.Helper()
	r := &Recorder{t: t, base: filepath.Clean(base), root: folder(), open: map[string]*node{},
		starts: map[*disk.Op]int{}}
	err := filepath.WalkDir(r.base, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == r.base {
			return err
		}
		dir, name, _ := r.resolve(path)
		if e.IsDir() {
			r.enter(disk.CallMkdir, dir, name, folder())
			return nil
		}
		data, err := os.ReadFile(path)
		n := &node{end: int64(len(data))}
		r.enter(disk.CallCreate, dir, name, n)
		r.add(event{call: disk.CallWrite, node: n, data: data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r.add(event{call: disk.CallSync, starts: len(r.events)})
	r.start = len(r.events)
	return r
}

func folder() *node { return &node{entries: map[string]*node{}} }

// Disk returns the system's disk with this recorder.
func (r *Recorder) Disk() *disk.Disk { return disk.Hooked(r) }

// Mark records an event of the program, such as an acknowledgement.
func (r *Recorder) Mark(v any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(event{mark: v})
}

// Calls returns the number of recorded calls and marks.
func (r *Recorder) Calls() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events) - r.start
}

func (r *Recorder) add(e event) { r.events = append(r.events, e) }

// resolve returns the folder of path, the name in it, and the node of that name, as the program
// sees them, or nil. The base itself has no folder.
func (r *Recorder) resolve(path string) (dir *node, name string, n *node) {
	n = r.root
	if filepath.Clean(path) == r.base {
		return nil, "", n
	}
	rel, err := filepath.Rel(r.base, path)
	if err != nil {
		return nil, "", nil
	}
	for part := range strings.SplitSeq(rel, "/") {
		if n == nil || part == ".." {
			return nil, "", nil
		}
		dir, name, n = n, part, n.entries[part]
	}
	return dir, name, n
}

// enter adds a name for node n to a folder.
func (r *Recorder) enter(call disk.Call, dir *node, name string, n *node) {
	dir.entries[name] = n
	r.add(event{call: call, node: n, dir: dir, name: name})
}

// Before records the start of a call, because a sync covers the calls that ended before. It skips real syncs. Tests
// never cut the power of their own machine, and recover thousands of states in a short time.
func (r *Recorder) Before(op *disk.Op) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.starts[op] = len(r.events)
	if op.Call == disk.CallSync || op.Call == disk.CallSyncFolder {
		return disk.ErrSkip
	}
	return nil
}

// After records a call.
func (r *Recorder) After(op *disk.Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// Find the file or folder of the call.
	start := r.starts[op]
	delete(r.starts, op)
	if op.Call == disk.CallMkdir {
		r.mkdir(op.Path)
		return
	}
	dir, name, n := r.resolve(op.Path)
	if dir == nil && n == nil {
		return // the path is not in the base
	}
	switch op.Call {
	case disk.CallCreate:
		n = &node{}
		r.open[op.Path] = n
		r.enter(op.Call, dir, name, n)
		return
	case disk.CallWrite, disk.CallTruncate, disk.CallSync, disk.CallSyncFolder:
		if file := r.open[op.Path]; file != nil {
			n = file
		}
	}
	if n == nil {
		r.t.Errorf("crash: %s %s: unknown file", op.Call, op.Path)
		return
	}
	// Record what the call changes.
	switch op.Call {
	case disk.CallRemove:
		delete(dir.entries, name)
		r.add(event{call: op.Call, dir: dir, old: name})
	case disk.CallRename, disk.CallLink:
		r.rename(op, dir, name, n)
	case disk.CallWrite:
		e := event{call: op.Call, node: n, offset: op.Offset, data: bytes.Clone(op.Data)}
		if e.offset < 0 {
			e.offset = n.end
			n.end += int64(len(e.data))
		}
		r.add(e)
	case disk.CallTruncate:
		n.end = op.Offset
		r.add(event{call: op.Call, node: n, offset: op.Offset})
	case disk.CallSync, disk.CallSyncFolder:
		if op.Call == disk.CallSync && n.entries != nil {
			n = nil // all of the file system
		}
		r.add(event{call: disk.CallSync, node: n, starts: start})
	}
}

// mkdir creates path and its missing parents.
func (r *Recorder) mkdir(path string) {
	if rel, err := filepath.Rel(r.base, path); err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return
	}
	dir, name, n := r.resolve(path)
	if n != nil {
		return
	}
	if dir == nil {
		r.mkdir(filepath.Dir(path))
		dir, name, _ = r.resolve(path)
	}
	r.enter(disk.CallMkdir, dir, name, folder())
}

func (r *Recorder) rename(op *disk.Op, dir *node, name string, n *node) {
	target, newName, _ := r.resolve(op.NewPath)
	if target == nil || op.Call == disk.CallRename && target != dir {
		r.t.Errorf("crash: %s %s to %s: into another folder, which is not modelled", op.Call, op.Path, op.NewPath)
		return
	}
	e := event{call: op.Call, node: n, dir: target, name: newName}
	if op.Call == disk.CallRename {
		delete(dir.entries, name)
		e.old = name
	}
	target.entries[newName] = n
	r.add(e)
}

// A State describes the disk after a simulated power cut.
type State struct {
	Calls int    // number of calls and marks that had finished
	Keep  int    // percentage of unsynced changes that survive
	Seed  uint64 // seed of the choice of these changes
}

func (s State) String() string {
	return fmt.Sprintf("after=%d/keep=%d/seed=%d", s.Calls, s.Keep, s.Seed)
}

// States calls do with states after every step-th call, for each of 0, 50 and 100 per cent, and for
// 50 with the given number of seeds.
func (r *Recorder) States(step, seeds int, do func(State)) {
	for calls := r.Calls(); calls >= 0; calls -= step {
		do(State{Calls: calls, Keep: 0})
		do(State{Calls: calls, Keep: 100})
		for seed := range seeds {
			do(State{Calls: calls, Keep: 50, Seed: uint64(seed)})
		}
	}
}

// Marks returns the marks that were made before the power cut.
func (r *Recorder) Marks(s State) (marks []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events[:r.start+s.Calls] {
		if e.mark != nil {
			marks = append(marks, e.mark)
		}
	}
	return marks
}

// Cut replaces the folder dir by the state of the base after the power cut.
func (r *Recorder) Cut(dir string, s State) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := os.RemoveAll(dir); err != nil {
		r.t.Fatal(err)
	}
	if err := newImage(r.events[:r.start+s.Calls], s).store(dir, r.root); err != nil {
		r.t.Fatal(err)
	}
}

// An image is the content of the simulated disk.
type image struct {
	names map[*node]map[string]*node
	data  map[*node][]byte
}

// newImage applies the durable part of events and the kept part of the others.
func newImage(events []event, s State) *image {
	rng := rand.New(rand.NewPCG(uint64(s.Calls), s.Seed))
	im := &image{names: map[*node]map[string]*node{}, data: map[*node][]byte{}}
	synced := 0                    // events that a sync of the file system covered
	syncedNodes := map[*node]int{} // or the sync of this file or folder covers it
	for _, e := range events {
		switch {
		case e.call != disk.CallSync:
		case e.node == nil:
			synced = max(synced, e.starts)
		default:
			syncedNodes[e.node] = max(syncedNodes[e.node], e.starts)
		}
	}
	for i, e := range events {
		durable := i < max(synced, syncedNodes[cmp.Or(e.dir, e.node)])
		im.apply(e, func() bool { return durable || rng.IntN(100) < s.Keep })
	}
	return im
}

// apply applies the parts of an event for which keep returns true.
func (im *image) apply(e event, keep func() bool) {
	switch {
	case e.dir != nil:
		if keep() {
			im.enter(e)
		}
	case e.call == disk.CallTruncate:
		if keep() {
			im.resize(e.node, e.offset)
		}
	case e.call == disk.CallWrite:
		im.write(e, keep)
	}
}

func (im *image) enter(e event) {
	names := im.names[e.dir]
	if names == nil {
		names = map[string]*node{}
		im.names[e.dir] = names
	}
	delete(names, e.old)
	if e.name != "" {
		names[e.name] = e.node
	}
}

// write writes the sectors of a write for which keep returns true, and perhaps its length.
func (im *image) write(e event, keep func() bool) {
	for data, offset := e.data, e.offset; len(data) > 0; {
		n := min(sectorBytes-offset%sectorBytes, int64(len(data)))
		if keep() {
			if offset+n > int64(len(im.data[e.node])) {
				im.resize(e.node, offset+n)
			}
			copy(im.data[e.node][offset:], data[:n])
		}
		offset, data = offset+n, data[n:]
	}
	if end := e.offset + int64(len(e.data)); keep() && end > int64(len(im.data[e.node])) {
		im.resize(e.node, end)
	}
}

func (im *image) resize(n *node, size int64) {
	data := im.data[n]
	if size <= int64(len(data)) {
		im.data[n] = data[:size:size]
	} else {
		im.data[n] = append(data, make([]byte, size-int64(len(data)))...)
	}
}

// store writes the folder n at path.
func (im *image) store(path string, n *node) error {
	if err := os.Mkdir(path, 0o755); err != nil {
		return err
	}
	for name, child := range im.names[n] {
		childPath := filepath.Join(path, name)
		var err error
		if child.entries != nil {
			err = im.store(childPath, child)
		} else {
			err = os.WriteFile(childPath, im.data[child], 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Unsynced is a disk that skips all syncs, for tests that open thousands of states.
var Unsynced = disk.WithFailures(func(c disk.Call, _ string) error {
	if c == disk.CallSync || c == disk.CallSyncFolder {
		return disk.ErrSkip
	}
	return nil
})
