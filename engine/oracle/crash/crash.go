// Package crash shows a program the folder that it would find after a power cut.
//
//	program --disk.Disk--> real folder            every call is made as ever ...
//	             |
//	         Recorder: create a, write a, sync a, sync folder, Mark(ack 1), write b ...
//	             |
//	         Cut(dir, State{After: 5, Keep: 50, Seed: 7})
//	             v
//	         another folder: what the disk may have after the 5th call
//
// What is durable is there: the content of a file before a sync of it, names before a sync of their
// folder, both before a sync of the file system. Of the rest each sector of 512 bytes, each change of
// a length and each change of a name is there or not, by chance: none of them, half, or all. That
// is more than file systems do to a program, which keep some order; so what holds here holds there.
//
// One run of a program gives as many states as it makes calls, times the fractions, times the
// seeds. Marks say what the program had promised at each. It is for tests.
package crash

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ndd/engine/storage/disk"
)

// sectorBytes is what a disk writes whole or not at all.
const sectorBytes = 512

// A node is a file, or a folder with entries. Entries and end are those that the program sees.
type node struct {
	entries map[string]*node // nil: a file
	end     int64            // of a file: where the next write without an offset goes
}

// An event is a call that ended, or a mark.
type event struct {
	call   disk.Call
	node   *node  // file or folder that the call is about
	begun  int    // sync: how many events there were when it began, which it covers
	offset int64  // write, truncate
	data   []byte // write
	dir    *node  // create, mkdir, rename, remove, link: the folder whose names change
	name   string // in dir; of a rename the new one
	old    string // rename in the same folder: the name that goes
	mark   any
}

// A Recorder records the calls to a disk. Its methods may be called from many goroutines.
type Recorder struct {
	t      testing.TB
	base   string
	mu     sync.Mutex
	root   *node
	open   map[string]*node // files by the name that they were created or opened under
	begun  map[*disk.Op]int // calls under way
	events []event
	start  int // events of what was there at the beginning
}

// Record returns a recorder of the calls about what is in the folder base. What is there already is
// taken to be durable.
func Record(t testing.TB, base string) *Recorder {
	t.Helper()
	r := &Recorder{t: t, base: filepath.Clean(base), root: folder(), open: map[string]*node{}, begun: map[*disk.Op]int{}}
	err := filepath.WalkDir(r.base, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == r.base {
			return err
		}
		dir, name := r.parent(path)
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
	r.add(event{call: disk.CallSync, begun: len(r.events)})
	r.start = len(r.events)
	return r
}

func folder() *node { return &node{entries: map[string]*node{}} }

// Disk returns the system's disk with this recorder.
func (r *Recorder) Disk() *disk.Disk { return disk.Hooked(r) }

// Mark notes something that has happened at this moment, such as an acknowledgement.
func (r *Recorder) Mark(v any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(event{mark: v})
}

// Calls returns how many calls and marks were recorded.
func (r *Recorder) Calls() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events) - r.start
}

func (r *Recorder) add(e event) { r.events = append(r.events, e) }

// parent returns the folder that path is in, as the program sees it, and the last element of path.
// The folder is nil when it is not in the base.
func (r *Recorder) parent(path string) (*node, string) {
	rel, err := filepath.Rel(r.base, filepath.Dir(path))
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return nil, ""
	}
	n := r.root
	for part := range strings.SplitSeq(rel, "/") {
		if n != nil && part != "." {
			n = n.entries[part]
		}
	}
	return n, filepath.Base(path)
}

// at returns what is at path, nil for what is not in the base.
func (r *Recorder) at(path string) *node {
	if filepath.Clean(path) == r.base {
		return r.root
	}
	dir, name := r.parent(path)
	if dir == nil {
		return nil
	}
	return dir.entries[name]
}

// enter gives n a name.
func (r *Recorder) enter(call disk.Call, dir *node, name string, n *node) {
	dir.entries[name] = n
	r.add(event{call: call, node: n, dir: dir, name: name})
}

// Before notes when a call begins: a sync covers what ended before. Syncs are not made, since no
// test cuts the power of its own machine, and thousands of states are recovered in a short time.
func (r *Recorder) Before(op *disk.Op) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun[op] = len(r.events)
	if op.Call == disk.CallSync || op.Call == disk.CallSyncFolder {
		return disk.ErrSkip
	}
	return nil
}

// After records a call.
func (r *Recorder) After(op *disk.Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	begun := r.begun[op]
	delete(r.begun, op)
	dir, name := r.parent(op.Path)
	if dir == nil && filepath.Clean(op.Path) != r.base {
		return
	}
	switch op.Call {
	case disk.CallCreate:
		n := &node{}
		r.open[op.Path] = n
		r.enter(op.Call, dir, name, n)
	case disk.CallMkdir:
		r.mkdir(op.Path)
	case disk.CallRemove:
		if dir.entries[name] == nil {
			r.t.Errorf("crash: remove %s: it is not there", op.Path)
		}
		delete(dir.entries, name)
		r.add(event{call: op.Call, dir: dir, old: name})
	case disk.CallRename, disk.CallLink:
		r.rename(op, dir, name)
	case disk.CallWrite, disk.CallTruncate:
		r.write(op)
	case disk.CallSync, disk.CallSyncFolder:
		n := r.open[op.Path]
		if n == nil {
			n = r.at(op.Path)
		}
		if n == nil {
			r.t.Errorf("crash: %s %s: it is not there", op.Call, op.Path)
			return
		}
		if op.Call == disk.CallSync && n.entries != nil {
			n = nil // all of the file system
		}
		r.add(event{call: disk.CallSync, node: n, begun: begun})
	}
}

// mkdir makes the folders down to path that are not there.
func (r *Recorder) mkdir(path string) {
	if r.at(path) != nil {
		return
	}
	dir, name := r.parent(path)
	if dir == nil {
		r.mkdir(filepath.Dir(path))
		dir, name = r.parent(path)
	}
	r.enter(disk.CallMkdir, dir, name, folder())
}

func (r *Recorder) rename(op *disk.Op, dir *node, name string) {
	to, as := r.parent(op.To)
	n := dir.entries[name]
	if n == nil || to == nil {
		r.t.Errorf("crash: %s %s to %s: not there, or not in %s", op.Call, op.Path, op.To, r.base)
		return
	}
	e := event{call: op.Call, node: n, dir: to, name: as}
	if op.Call == disk.CallRename {
		if to != dir {
			r.t.Errorf("crash: rename %s to %s: into another folder, which is not modelled", op.Path, op.To)
		}
		delete(dir.entries, name)
		e.old = name
	}
	to.entries[as] = n
	r.add(e)
}

func (r *Recorder) write(op *disk.Op) {
	n := r.open[op.Path]
	if n == nil {
		n = r.at(op.Path)
	}
	if n == nil {
		r.t.Errorf("crash: %s %s: it is not there", op.Call, op.Path)
		return
	}
	e := event{call: op.Call, node: n, offset: op.Offset, data: append([]byte(nil), op.Data...)}
	if e.offset < 0 {
		e.offset = n.end
		n.end += int64(len(e.data))
	}
	if op.Call == disk.CallTruncate {
		n.end = op.Offset
	}
	r.add(e)
}

// A State is one after a power cut.
type State struct {
	After int    // calls and marks that ended before, of Calls
	Keep  int    // of what is not durable, in per cent
	Seed  uint64 // of the choice of what is kept
}

func (s State) String() string {
	return fmt.Sprintf("after=%d/keep=%d/seed=%d", s.After, s.Keep, s.Seed)
}

// States calls do with states after every step-th call, for each of 0, 50 and 100 per cent, and for
// 50 with so many seeds.
func (r *Recorder) States(step, seeds int, do func(State)) {
	for after := r.Calls(); after >= 0; after -= step {
		do(State{After: after, Keep: 0})
		do(State{After: after, Keep: 100})
		for seed := range seeds {
			do(State{After: after, Keep: 50, Seed: uint64(seed)})
		}
	}
}

// Marks returns the marks that were made before the power cut.
func (r *Recorder) Marks(s State) (marks []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events[:r.start+s.After] {
		if e.mark != nil {
			marks = append(marks, e.mark)
		}
	}
	return marks
}

// Cut makes the folder dir what the base would be after the power cut.
func (r *Recorder) Cut(dir string, s State) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := os.RemoveAll(dir); err != nil {
		r.t.Fatal(err)
	}
	if err := newImage(r.events[:r.start+s.After], s).store(dir, r.root); err != nil {
		r.t.Fatal(err)
	}
}

// An image is what the disk has.
type image struct {
	names map[*node]map[string]*node
	data  map[*node][]byte
	keep  func() bool
}

// newImage applies what is durable of events, and what is kept of the others.
func newImage(events []event, s State) *image {
	rng := rand.New(rand.NewPCG(uint64(s.After), s.Seed))
	im := &image{names: map[*node]map[string]*node{}, data: map[*node][]byte{}, keep: func() bool { return rng.IntN(100) < s.Keep }}
	all := 0                   // events that a sync of the file system covered
	covered := map[*node]int{} // or of this file or folder
	for _, e := range events {
		switch {
		case e.call != disk.CallSync:
		case e.node == nil:
			all = max(all, e.begun)
		default:
			covered[e.node] = max(covered[e.node], e.begun)
		}
	}
	for i, e := range events {
		n := e.node
		if e.dir != nil {
			n = e.dir
		}
		im.apply(e, i < max(all, covered[n]))
	}
	return im
}

// apply applies an event, or what is kept of it.
func (im *image) apply(e event, durable bool) {
	switch {
	case e.dir != nil:
		if durable || im.keep() {
			im.enter(e)
		}
	case e.call == disk.CallTruncate:
		if durable || im.keep() {
			im.resize(e.node, e.offset)
		}
	case e.call == disk.CallWrite && durable:
		im.write(e.node, e.offset, e.data)
	case e.call == disk.CallWrite:
		im.tear(e)
	}
}

func (im *image) enter(e event) {
	names := im.names[e.dir]
	if names == nil {
		names = map[string]*node{}
		im.names[e.dir] = names
	}
	if e.old != "" {
		delete(names, e.old)
	}
	if e.name != "" {
		names[e.name] = e.node
	}
}

// tear writes those sectors of a write that are kept, and perhaps its length.
func (im *image) tear(e event) {
	for at := int64(0); at < int64(len(e.data)); {
		n := min(sectorBytes-(e.offset+at)%sectorBytes, int64(len(e.data))-at)
		if im.keep() {
			im.write(e.node, e.offset+at, e.data[at:at+n])
		}
		at += n
	}
	if end := e.offset + int64(len(e.data)); im.keep() && end > int64(len(im.data[e.node])) {
		im.resize(e.node, end)
	}
}

func (im *image) write(n *node, at int64, data []byte) {
	if end := at + int64(len(data)); end > int64(len(im.data[n])) {
		im.resize(n, end)
	}
	copy(im.data[n][at:], data)
}

func (im *image) resize(n *node, to int64) {
	data := im.data[n]
	if to <= int64(len(data)) {
		im.data[n] = data[:to:to]
	} else {
		im.data[n] = append(data, make([]byte, to-int64(len(data)))...)
	}
}

// store writes the folder n at path.
func (im *image) store(path string, n *node) error {
	if err := os.Mkdir(path, 0o755); err != nil {
		return err
	}
	for name, child := range im.names[n] {
		to := filepath.Join(path, name)
		var err error
		if child.entries != nil {
			err = im.store(to, child)
		} else {
			err = os.WriteFile(to, im.data[child], 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
