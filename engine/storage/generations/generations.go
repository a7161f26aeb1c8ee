// Package generations manages a folder of immutable files, such as an index.
//
//	MANIFEST              names the files, as JSON; a change replaces the manifest as a whole
//	00000007.segment ...  files that a manifest names; the next writer removes all others
//	lock                  allows one writing process at a time
//
// A writer takes the lock with [Lock], writes files with new names, and writes the manifest of the next generation
// with [Write]. So one file defines the content of the folder. Readers take no lock. [Open] opens the files of a
// manifest. It starts again if a writer has meanwhile replaced the manifest and removed files.
package generations

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// ManifestMax is the maximum number of bytes of a manifest, enough for some thousand segments.
const ManifestMax = 1 << 20

// Section is the name of the section that contains the manifest.
const Section = "manifest"

// Read verifies an open file and decodes its manifest. The error wraps [store.ErrCorrupt].
func Read(f *store.File, manifest any) (s store.Section, err error) {
	defer store.CatchFault(&err)()
	if err := f.Verify(context.Background(), 1, nil); err != nil {
		return s, err
	}
	if s, err = f.Section(Section); err != nil {
		return s, err
	}
	if len(s.Data) > ManifestMax {
		return s, s.Corrupt(0, "%d bytes: a manifest has at most %d", len(s.Data), ManifestMax)
	}
	return s, s.JSON(manifest)
}

// Write replaces the manifest at path. More, unless it is nil, writes further sections. After an error either of the
// two manifests may be in place.
func Write(path string, kind store.Kind, generation uint64, o store.Options, manifest []byte,
	more func(*store.Writer)) error {
	w, err := store.CreateWith(path, kind, generation, o)
	if err != nil {
		return err
	}
	defer w.Abort()
	store.WriteSection(w, Section, manifest)
	if more != nil {
		more(w)
	}
	return w.Commit()
}

// Lock locks the folder dir for writing and returns its manifest. It calls read twice. The first call fails before a
// lock is created if there is no manifest. The second call runs with the lock, so that nobody changes the manifest.
// The error wraps [disk.ErrLocked] while another process has the lock.
func Lock[M any](d *disk.Disk, dir string, read func(*disk.Disk) (M, error)) (m M, lock *disk.Lock, err error) {
	if m, err = read(d); err != nil {
		return m, nil, err
	}
	if lock, err = disk.LockFolder(dir); errors.Is(err, disk.ErrLocked) {
		return m, nil, fmt.Errorf("%w; end that first, and meanwhile read it or make a backup", err)
	}
	if err != nil {
		return m, nil, err
	}
	if m, err = read(lock.Disk(d)); err != nil {
		return m, nil, errors.Join(err, lock.Close())
	}
	return m, lock, nil
}

// tries is the maximum number of further attempts to open a folder that changes meanwhile.
const tries = 10

// Open opens the files of a manifest. If that fails and same reports that the manifest has changed, Open tries again:
// a writer may have merged and removed files that the first manifest names.
func Open[M, X any](read func() (M, error), open func(M) (X, error), same func(a, b M) bool) (x X, err error) {
	for try := 0; ; try++ {
		m, err := read()
		if err != nil {
			return x, err
		}
		x, err = open(m)
		if err == nil || try == tries {
			return x, err
		}
		if now, e := read(); e != nil || same(now, m) {
			return x, err
		}
	}
}

// RemoveOrphans removes files of the folder dir that a writer did not finish or failed to remove. These are the files
// that the manifest does not name and whose names mine accepts. It also removes hidden temporary files. It returns
// the names of the removed files.
func RemoveOrphans(d *disk.Disk, dir string, named []string, mine func(name string) bool) (removed []string,
	err error) {
	entries, err := d.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		unfinished := strings.HasPrefix(name, ".") && strings.Contains(name, ".tmp-")
		if slices.Contains(named, name) || !unfinished && !mine(name) {
			continue
		}
		if err := d.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return removed, err
		}
		removed = append(removed, name)
	}
	return removed, nil
}

// An Entry names a file in a manifest.
type Entry struct {
	File  string `json:"file"`
	ID    string `json:"id"` // ID of the file: 32 hexadecimal digits
	Bytes uint64 `json:"bytes,omitempty"`
}

// EntryOf returns the entry of the file at path that w has written.
func EntryOf(w *store.Writer, path string) Entry {
	id := w.Identity()
	return Entry{File: filepath.Base(path), ID: hex.EncodeToString(id.ID[:]), Bytes: w.Bytes()}
}

// ParseID parses 32 hexadecimal digits.
func ParseID(text string) (id [16]byte, ok bool) {
	n, err := hex.Decode(id[:], []byte(text[:min(len(text), 2*len(id))]))
	return id, err == nil && n == len(id) && len(text) == 2*n
}

// Missing returns the error for a file that is missing in folder dir. It wraps [store.ErrCorrupt].
func (n *Entry) Missing(dir string) error {
	size := ""
	if n.Bytes > 0 {
		size = ", of " + humanize.IBytes(n.Bytes)
	}
	return fmt.Errorf("%s: %w: the manifest names this file%s, and it is missing: copy it from where it is, or "+
		"build the index again",
		filepath.Join(dir, n.File), store.ErrCorrupt, size)
}

// Open opens the file in folder dir by get. It checks that it is the file that a manifest of that generation names.
// Otherwise the error wraps [store.ErrCorrupt].
func (n *Entry) Open(dir string, kind store.Kind, generation uint64,
	get func(path string, kind store.Kind) (*store.File, error)) (*store.File, error) {
	f, err := get(filepath.Join(dir, n.File), kind)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, n.Missing(dir)
	}
	if err != nil {
		return nil, err
	}
	id := f.Identity()
	if hex.EncodeToString(id.ID[:]) != n.ID || id.Generation > generation || n.Bytes > 0 && f.Bytes() != n.Bytes {
		const identityOffset = 16
		f.Close()
		return nil, &store.CorruptError{File: f.Path(), Section: "header", Block: -1, Offset: identityOffset,
			Why: fmt.Sprintf("a sound %s, but not the one that the manifest names: copy that, or build the index again", kind)}
	}
	return f, nil
}
