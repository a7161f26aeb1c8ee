package work

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/minio/highwayhash"

	"ndd/engine/corpus/input"
	"ndd/engine/storage/disk"
)

// Copies are the finished copies of input files that a [Folder] keeps: second names of files in the folder
// that a command is making, and a list. A copy is written to the list when it is finished, and nothing is
// synced; a copy that a power cut has damaged does not have its checksum. Many goroutines may use it.
type Copies struct {
	w     *Folder
	dir   string       // where the copies are made
	taken atomic.Int64 // how many were taken over

	mu     sync.Mutex
	list   *disk.AppendFile      // nil before a copy is kept
	whole  int64                 // bytes of complete lines in the list; -1: there is no list
	kept   map[string]listedCopy // by identity
	number int                   // of the last copy
	broken bool                  // no copy is kept any more
}

// A Copy says what became of an input file.
type Copy struct {
	Name     string `json:",omitempty"` // of its copy, "" if nothing of the file was left
	Ending   string `json:",omitempty"` // of the name, where the compression is another one
	Repacked bool   `json:",omitempty"` // the compression is another one
	Uncut    int    `json:",omitempty"` // documents that stayed whole because they cannot be cut
}

// A listedCopy is a line of the list.
type listedCopy struct {
	Of   string // identity: key of the input file, and the decision
	Sum  string // checksum of the copy
	File string // name of the copy in the work folder
	Copy Copy
}

const (
	listName   = "copies"
	copyEnding = ".copy"
)

// CopiesIn returns the copies of the folder, for a command that makes them in a folder on the same disk.
func (w *Folder) CopiesIn(dir string) *Copies {
	w.copies.dir = dir
	return &w.copies
}

// open reads the list of a work folder.
func (c *Copies) open(w *Folder) error {
	c.w, c.kept = w, map[string]listedCopy{}
	text, err := w.disk.ReadFile(filepath.Join(w.dir, listName))
	if errors.Is(err, fs.ErrNotExist) {
		c.whole = -1
		return nil
	}
	if err != nil {
		return err
	}
	for line := range bytes.Lines(text) {
		var k listedCopy
		if json.Unmarshal(line, &k) != nil || !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		c.whole += int64(len(line))
		c.kept[k.Of] = k
	}
	return nil
}

// write writes a line of the list.
func (c *Copies) write(k listedCopy) (err error) {
	path := filepath.Join(c.w.dir, listName)
	switch {
	case c.list != nil:
	case c.whole < 0:
		c.list, err = c.w.disk.CreateAppend(path)
	default:
		c.list, err = c.w.disk.OpenAppend(path, c.whole)
	}
	if err != nil {
		return err
	}
	line, _ := json.Marshal(k) // it has strings and numbers only
	_, err = c.list.Write(append(line, '\n'))
	return err
}

// identity returns what a copy depends on, or "" if the file has changed since it was read.
func (c *Copies) identity(f input.File, decision []byte) string {
	k, known := c.w.plan[f.Path]
	if now, err := keyOf(c.w.ctx, f, c.w.cfg); !known || err != nil || now.digest() != k {
		return ""
	}
	return hex.EncodeToString(k[:]) + " " + hex.EncodeToString(decision)
}

// Take returns the finished copy of a file, and its path unless nothing of the file was left. The decision
// says what the copy leaves out.
func (c *Copies) Take(f input.File, decision []byte) (path string, of Copy, ok bool) {
	identity := c.identity(f, decision)
	c.mu.Lock()
	k, ok := c.kept[identity]
	c.mu.Unlock()
	if ok && k.File != "" {
		path = filepath.Join(c.w.dir, k.File)
		sum, err := sumOf(path)
		ok = err == nil && sum == k.Sum
	}
	if ok {
		c.taken.Add(1)
	}
	return path, k.Copy, ok
}

// Keep keeps the finished copy of a file.
func (c *Copies) Keep(f input.File, decision []byte, of Copy) {
	k, path := listedCopy{Of: c.identity(f, decision), Copy: of}, filepath.Join(c.dir, of.Name)
	var err error
	if of.Name != "" {
		if k.Sum, err = sumOf(path); err != nil {
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken || k.Of == "" {
		return
	}
	if of.Name != "" {
		c.number++
		k.File = fmt.Sprintf("%06d%s", c.number, copyEnding)
		err = c.w.disk.Link(path, filepath.Join(c.w.dir, k.File))
	}
	if err == nil {
		err = c.write(k)
	}
	if err != nil {
		c.broken = true
		c.w.warn(c.w.trouble(err) + ": copies have to be on its file system")
	}
}

// Taken returns how many copies were taken over.
func (c *Copies) Taken() int { return int(c.taken.Load()) }

// sumOf returns the checksum of a file.
func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h, err := highwayhash.New128(make([]byte, highwayhash.Size))
	if err != nil {
		return "", err
	}
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// DropCopies removes the copies. They are of no use once the folder that they were made for is complete.
func (w *Folder) DropCopies() error {
	if err := w.copies.close(); err != nil {
		return err
	}
	entries, err := w.disk.ReadDir(w.dir)
	for _, e := range entries {
		if name := e.Name(); err == nil && (name == listName || strings.HasSuffix(name, copyEnding)) {
			err = w.disk.Remove(filepath.Join(w.dir, name))
		}
	}
	return err
}

func (c *Copies) close() (err error) {
	if c.list != nil {
		err = c.list.Close()
	}
	c.list, c.broken = nil, true
	return err
}
