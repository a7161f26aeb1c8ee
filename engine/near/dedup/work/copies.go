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

	"github.com/minio/highwayhash"

	"ndd/engine/corpus/document"
	"ndd/engine/storage/disk"
)

// copies are the finished copies of input files: other names of the files in the folder that is
// being made, and a list. A line of the list is written when its copy is finished, and nothing is
// synced; what a power cut has spoilt does not have its checksum.
type copies struct {
	mu     sync.Mutex
	list   *disk.AppendFile  // nil before one is kept
	whole  int64             // bytes of it that make sense; -1: there is none
	kept   map[string]copied // by identity
	number int               // of the last copy
	broken bool              // none is kept any more
}

// A copied is a finished copy, as it is listed.
type copied struct {
	Of     string // identity: key of the input file, and the decision
	Name   string // of the file in the folder; "" where the copy is none
	Sum    string
	Report []byte // of the caller
}

const (
	copiesName = "copies" // the list
	copyEnding = ".copy"
)

func (w *Folder) openCopies() error {
	c := &w.copies
	c.kept = map[string]copied{}
	path := filepath.Join(w.dir, copiesName)
	text, err := w.disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		c.whole = -1
		return nil
	}
	if err != nil {
		return err
	}
	for line := range bytes.Lines(text) {
		var k copied
		if json.Unmarshal(line, &k) != nil || !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		c.whole += int64(len(line))
		c.kept[k.Of] = k
	}
	return nil
}

// write writes a line of the list.
func (w *Folder) write(k copied) (err error) {
	c, path := &w.copies, filepath.Join(w.dir, copiesName)
	switch {
	case c.list != nil:
	case c.whole < 0:
		c.list, err = w.disk.CreateAppend(path)
	default:
		c.list, err = w.disk.OpenAppend(path, c.whole)
	}
	if err != nil {
		return err
	}
	line, _ := json.Marshal(k) // of strings
	_, err = c.list.Write(append(line, '\n'))
	return err
}

// identity returns what a copy depends on; "" if the file is not what it was when it was read.
func (w *Folder) identity(f document.File, decision []byte) string {
	k, known := w.plan[f.Path]
	if now, err := keyOf(w.ctx, f, w.cfg); !known || err != nil || now.digest() != k {
		return ""
	}
	return hex.EncodeToString(k[:]) + " " + hex.EncodeToString(decision)
}

// TakeCopy returns the path of a finished copy, or "" where it is none, and the report it was kept with.
// The decision names the documents left out. It may be called from many goroutines.
func (w *Folder) TakeCopy(f document.File, decision []byte) (path string, report []byte, ok bool) {
	of := w.identity(f, decision)
	w.copies.mu.Lock()
	k, ok := w.copies.kept[of]
	w.copies.mu.Unlock()
	if !ok || k.Name == "" {
		return "", k.Report, ok
	}
	path = filepath.Join(w.dir, k.Name)
	sum, err := sumOf(path)
	return path, k.Report, err == nil && sum == k.Sum
}

// KeepCopy keeps a finished copy, at path unless that is "", where it is none. It may be called from
// many goroutines.
func (w *Folder) KeepCopy(f document.File, decision []byte, path string, report []byte) {
	k := copied{Of: w.identity(f, decision), Report: report}
	c := &w.copies
	var err error
	if path != "" {
		if k.Sum, err = sumOf(path); err != nil {
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken || k.Of == "" {
		return
	}
	if path != "" {
		c.number++
		k.Name = fmt.Sprintf("%06d%s", c.number, copyEnding)
		err = w.disk.Link(path, filepath.Join(w.dir, k.Name))
	}
	if err == nil {
		err = w.write(k)
	}
	if err != nil {
		c.broken = true
		w.warn(w.trouble(err) + ": copies have to be on its file system")
	}
}

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

// DropCopies removes the copies, which are of no use when the folder that they were made for is there.
func (w *Folder) DropCopies() error {
	if err := w.copies.close(); err != nil {
		return err
	}
	entries, err := w.disk.ReadDir(w.dir)
	for _, e := range entries {
		if name := e.Name(); err == nil && (name == copiesName || strings.HasSuffix(name, copyEnding)) {
			err = w.disk.Remove(filepath.Join(w.dir, name))
		}
	}
	return err
}

func (c *copies) close() (err error) {
	if c.list != nil {
		err = c.list.Close()
	}
	c.list, c.broken = nil, true
	return err
}
