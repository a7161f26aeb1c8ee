package work

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/minio/highwayhash"

	"example.org/ndd/engine/corpus/input"
)

// Copies are the finished copies of input files that a [Folder] keeps. Each is a second name of the file in the folder
// that a command is making, and the name says everything about the copy:
//
//	identity-checksum-uncut-ending.copy
//
// The identity is a hash of the key of the input file and of the decision. An empty file with the checksum "none" says
// that nothing of the input file was left. Nothing is synced: a copy that a power cut has damaged does not have its
// checksum. Many goroutines may use Copies.
type Copies struct {
	w      *Folder
	dir    string       // folder in which the copies are made
	reused atomic.Int64 // number of copies that were taken over

	mu     sync.Mutex
	names  map[string]string // end of the name of each stored copy, by identity
	broken bool              // no more copies are stored
}

// A Copy describes the copy of an input file.
type Copy struct {
	Name   string // name of the copy in its folder; "" if the file lost all documents
	Ending string // new extension if the copy has another compression; else ""
	Uncut  int    // documents that stayed whole because they cannot be cut
}

const (
	copyEnding = ".copy"
	noCopy     = "none" // stored instead of a checksum
)

// CopiesIn returns the copies of the folder, for a command that makes them in a folder on the same disk.
func (w *Folder) CopiesIn(dir string) *Copies {
	w.copies.dir = dir
	return &w.copies
}

// path returns the path of a copy in the work folder.
func (c *Copies) path(identity, rest string) string { return filepath.Join(c.w.dir, identity+"-"+rest) }

// identity returns what a copy depends on, or "" if the file has changed since it was read.
func (c *Copies) identity(f input.File, decision []byte) string {
	k, known := c.w.plan[f.Path]
	if current, err := keyOf(c.w.ctx, f, c.w.cfg); !known || err != nil || current.digest() != k {
		return ""
	}
	sum := highwayhash.Sum128(append(k[:], decision...), make([]byte, highwayhash.Size))
	return hex.EncodeToString(sum[:])
}

// Take returns the finished copy of a file without its Name, and its path unless nothing of the file was left. The
// decision says what the copy leaves out. A damaged copy is removed.
func (c *Copies) Take(f input.File, decision []byte) (path string, file Copy, ok bool) {
	identity := c.identity(f, decision)
	c.mu.Lock()
	rest, ok := c.names[identity]
	c.mu.Unlock()
	parts := strings.SplitN(strings.TrimSuffix(rest, copyEnding), "-", 3)
	if !ok || len(parts) < 3 {
		return "", file, false
	}
	file.Uncut, _ = strconv.Atoi(parts[1])
	if file.Ending = parts[2]; parts[0] != noCopy {
		path = c.path(identity, rest)
		if sum, err := sumOf(path); err != nil || sum != parts[0] {
			c.w.disk.Remove(path) // if that fails, so does keeping the new copy
			return "", file, false
		}
	}
	c.reused.Add(1)
	return path, file, true
}

// Keep keeps the finished copy of a file.
func (c *Copies) Keep(f input.File, decision []byte, file Copy) {
	identity, sum, path := c.identity(f, decision), noCopy, filepath.Join(c.dir, file.Name)
	var err error
	if file.Name != "" {
		if sum, err = sumOf(path); err != nil {
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken || identity == "" {
		return
	}
	to := c.path(identity, fmt.Sprintf("%s-%d-%s%s", sum, file.Uncut, file.Ending, copyEnding))
	if file.Name != "" {
		err = c.w.disk.Link(path, to)
	} else if empty, e := c.w.disk.CreateAppend(to); e != nil {
		err = e
	} else {
		err = empty.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		c.broken = true
		c.w.warn(c.w.trouble(err) + ": copies have to be on its file system")
	}
}

// Taken returns the number of copies that were taken over.
func (c *Copies) Taken() int { return int(c.reused.Load()) }

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
	w.copies.broken = true
	entries, err := w.disk.ReadDir(w.dir)
	for _, e := range entries {
		if err == nil && strings.HasSuffix(e.Name(), copyEnding) {
			err = w.disk.Remove(filepath.Join(w.dir, e.Name()))
		}
	}
	return err
}
