package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/minio/highwayhash"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/text"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/object"
	"example.org/ndd/engine/storage/store"
)

const (
	ending  = ".work"
	version = 8 // of the entries; a run takes over only entries of its version

	pieceBytes = 1 << 20   // size of the input files of a work file, about; a single one may be larger
	pieceFiles = 64        // number of these files
	tailBytes  = 256 << 10 // entries in memory of the file that is being read
)

// A Folder is an open work folder. It is an [ingest.Work].
type Folder struct {
	dir     string
	lock    *disk.Lock
	disk    *disk.Disk
	threads int
	warn    func(string)

	stored map[digest]place // entries of files, by key
	next   int              // number of the next work file

	// Of a run, from Begin on.
	ctx  context.Context
	cfg  *ingest.Config
	plan map[string]digest // earlier keys of the files, by path
	say  func(Taken)

	entryWriter
	copies Copies
}

// A key identifies everything that the entries of a file depend on.
type key struct {
	Entries  int    // their version
	Path     string // path as the user gave it, because IDs contain it
	Absolute string
	InFolder bool  // true if the file was found in a folder: then an unreadable part is skipped
	Size     int64 // -1: unknown
	Modified int64
	Inode    uint64 `json:",omitempty"` // 0 if the system has no inodes
	Changed  int64  `json:",omitempty"` // time of the last change of the inode; 0 if there are none
	Version  string `json:",omitempty"` // version of an object

	Job      string `json:",omitempty"` // Job of ingest.Config
	Recipe   simhash.Recipe
	Extract  text.Extraction `json:",omitempty"`
	Format   format.Format
	Text, ID string
	Values   [][]string
	Longest  int64
	Exact    bool
	Sketches bool
}

// A digest is a hash of a key: a folder may have many files.
type digest [highwayhash.Size128]byte

func (k *key) digest() digest {
	data, _ := json.Marshal(k) // it has strings and numbers only
	return highwayhash.Sum128(data, make([]byte, highwayhash.Size))
}

// A place is where the entries of a file are.
type place struct {
	file     string
	from, to uint64
	content  format.Checksum
}

// A fileEntry is a file in the list of a work file.
type fileEntry struct {
	Key   key
	Bytes uint64 // length of its entries, which follow the entries of the file before

	Content format.Checksum `json:",omitempty"`
}

// Taken describes the entries that a run takes over.
type Taken struct {
	Dir    string
	Files  int      // number of input files
	Stored int      // files that are taken over
	Read   []string // files that are new or changed, or were read with other options
	Unused int      // stored files that are no input, or have changed
}

// Open opens or creates the work folder at dir and locks it. The error for a folder in use wraps [disk.ErrLocked].
// A run calls say when it begins. It calls warn for trouble that does not end it: a damaged work file, which is
// removed, or a full disk.
func Open(ctx context.Context, d *disk.Disk, dir string, threads int, say func(Taken), warn func(string)) (w *Folder,
	err error) {
	dir = filepath.Clean(dir)
	if err := d.MakeParents(filepath.Join(dir, disk.LockName)); err != nil {
		return nil, err
	}
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	w = &Folder{dir: dir, threads: threads, say: say, warn: warn, stored: map[digest]place{}, next: 1}
	lock, err := disk.LockFolder(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			lock.Close()
		}
	}()
	w.lock, w.disk = lock, lock.Disk(d)
	w.copies.w, w.copies.names = w, map[string]string{}
	disk.Sweep(dir)
	entries, err := w.disk.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case copyEnding:
			if identity, rest, ok := strings.Cut(e.Name(), "-"); ok {
				w.copies.names[identity] = rest
			}
			continue
		case ending:
			number := 0
			fmt.Sscanf(e.Name(), "%d", &number)
			w.next = max(w.next, number+1)
		default:
			continue
		}
		switch err := w.load(ctx, e.Name()); {
		case errors.Is(err, store.ErrCorrupt):
			path := filepath.Join(dir, e.Name())
			warn(fmt.Sprintf("%s is damaged: it is removed, and its inputs are read again", path))
			if err := w.disk.Remove(path); err != nil {
				return nil, err
			}
		case err != nil:
			return nil, err
		}
	}
	return w, nil
}

// checkFolder returns an error if a folder has files that no work folder has.
func checkFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		name := e.Name()
		ext, isHidden := filepath.Ext(name), strings.HasPrefix(name, ".") // such as a temporary file
		if ext != ending && ext != copyEnding && name != disk.LockName && !isHidden {
			return fmt.Errorf("%s: no work folder: it has %s; choose another name", dir, name)
		}
	}
	return err
}

// load reads the list of a work file.
func (w *Folder) load(ctx context.Context, name string) (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	// Verify all of the file, because its entries replace the reading of inputs.
	f, err := store.OpenOn(w.disk, filepath.Join(w.dir, name), store.KindWork)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Verify(ctx, w.threads, nil); err != nil {
		return err
	}
	// Find the entries of each input file, which follow each other.
	list, err := f.Section("files")
	if err != nil {
		return err
	}
	entries, err := f.Section("entries")
	if err != nil {
		return err
	}
	var files []fileEntry
	if err := list.JSON(&files); err != nil {
		return err
	}
	offset := uint64(0)
	for _, l := range files {
		if l.Bytes > uint64(len(entries.Data))-offset {
			return list.Corrupt(0, "%s: %d bytes of entries: too many", l.Key.Path, l.Bytes)
		}
		if l.Key.Path != "" {
			w.stored[l.Key.digest()] = place{name, offset, offset + l.Bytes, l.Content}
		}
		offset += l.Bytes
	}
	return nil
}

// Close completes the finished files and unlocks the folder. It may be called again, and on nil.
func (w *Folder) Close() error {
	if w == nil || w.lock == nil {
		return nil
	}
	w.Complete()
	err := w.lock.Close()
	w.lock = nil
	return err
}

// Begin finds out which files are taken over.
func (w *Folder) Begin(ctx context.Context, inputs []string, cfg *ingest.Config) error {
	w.ctx, w.cfg, w.plan = ctx, cfg, map[string]digest{}
	t := Taken{Dir: w.dir}
	for f, err := range cfg.Document.Share.List(ctx, inputs) {
		if err != nil {
			continue // it is skipped again when the files are read
		}
		k, err := keyOf(ctx, f, cfg)
		if err != nil {
			continue
		}
		if _, again := w.plan[f.Path]; again {
			continue
		}
		w.plan[f.Path] = k.digest()
		t.Files++
		if _, has := w.stored[k.digest()]; has {
			t.Stored++
		} else {
			t.Read = append(t.Read, f.Path)
		}
	}
	t.Unused = len(w.stored) - t.Stored
	w.say(t)
	return ctx.Err()
}

// keyOf returns the present key of a file.
func keyOf(ctx context.Context, f input.File, cfg *ingest.Config) (k key, err error) {
	o := &cfg.Document
	k = key{Path: f.Path, Absolute: f.Path, InFolder: f.Root != "", Size: -1, Job: cfg.Job, Recipe: cfg.Recipe,
		Extract: o.Extract, Format: o.Format, Text: o.TextField, ID: o.IDField, Values: o.ValueFields,
		Longest: o.MaxDocumentBytes, Exact: cfg.Exact, Sketches: cfg.Sketches, Entries: version}
	if object.Is(f.Path) {
		x, err := object.From(ctx).Open(ctx, f.Path)
		if err != nil {
			return k, err
		}
		defer x.Close()
		k.Size, k.Modified, k.Version = x.Size, x.ModifiedNano, x.Version
		if k.Version == "" && k.Modified == 0 {
			return k, errors.New("no version")
		}
		return k, nil
	}
	if k.Absolute, err = filepath.Abs(f.Path); err != nil {
		return k, err
	}
	info, err := os.Stat(f.Path)
	if err != nil {
		return k, err
	}
	k.Size, k.Modified = info.Size(), info.ModTime().UnixNano()
	k.Inode, k.Changed = inodeOf(f.Path)
	return k, nil
}

// Stored returns the entries of a file that was finished, and its checksum.
func (w *Folder) Stored(f input.File) (iter.Seq2[ingest.Entry, error], format.Checksum) {
	entries, has := w.stored[w.plan[f.Path]]
	if !has {
		return nil, 0
	}
	return func(yield func(ingest.Entry, error) bool) {
		if err := w.read(entries, yield); err != nil {
			yield(ingest.Entry{}, fmt.Errorf("%s: %w: remove that file to read %s again", filepath.Join(w.dir, entries.file),
				err, f.Path))
		}
	}, entries.content
}

// read yields entries until yield returns false.
func (w *Folder) read(location place, yield func(ingest.Entry, error) bool) error {
	f, err := store.OpenOn(w.disk, filepath.Join(w.dir, location.file), store.KindWork)
	if err != nil {
		return err
	}
	defer f.Close()
	section, err := f.Section("entries")
	if err != nil {
		return err
	}
	return readEntries(section.Data[location.from:location.to], yield)
}

// readEntries yields the entries in some mapped data until yield returns false.
func readEntries(data []byte, yield func(ingest.Entry, error) bool) (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	d := decoder{Fields: data}
	for len(d.Fields) > 0 {
		e, err := d.next()
		if err != nil {
			return errors.Join(err, store.ErrCorrupt)
		}
		if !yield(e, nil) {
			return nil
		}
	}
	return nil
}
