package live

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"ndd/engine/index/segment"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// A folder is where an index that is written to has its files. Its files are never changed: a
// segment is written under a new number, a new manifest names it, and what that no longer names is
// removed when the last reader has let go of it.
type folder struct {
	dir    string
	disk   *disk.Disk
	random io.Reader // of identities
	lock   *os.File

	mu       sync.Mutex // held by who makes the next manifest; taken before writer.mu
	manifest *Manifest  // the current one
	files    uint64     // number of the next file; beyond the manifest's where one was given up
}

func (f *folder) options() store.Options { return store.Options{Disk: f.disk, Random: f.random} }

// publish writes the next manifest: the current one as edit changes it. It needs f.mu. After an
// error it is not known which of the two is there, so the files of both stay until the index is
// opened again.
func (f *folder) publish(edit func(*Manifest)) error {
	next := *f.manifest
	live := *f.manifest.Live
	next.Live, next.Segments = &live, slices.Clone(f.manifest.Segments)
	edit(&next)
	f.manifest.Generation++ // whatever comes of it: no two manifests are of one generation
	next.Generation = f.manifest.Generation
	live.Files = f.files
	if err := writeManifest(f.dir, next.Generation, f.options(), &next); err != nil {
		return err
	}
	f.manifest = &next
	return nil
}

// toFile makes a segment in a file, with what stands beside it, and opens it.
func (x *Index) toFile(ctx context.Context, g *gathered, dead []DocID, o segment.Options) (made *Segment, entry ManifestSegment, err error) {
	f := x.folder
	f.mu.Lock()
	number, generation := f.files, f.manifest.Generation
	f.files++
	f.mu.Unlock()
	path := filepath.Join(f.dir, fmt.Sprintf("%08d.segment", number))
	beside := filepath.Join(f.dir, fmt.Sprintf("%08d.documents", number))
	defer func() {
		if err != nil { // no manifest names them
			for _, p := range []string{path, beside} {
				if _, e := os.Lstat(p); e == nil {
					f.disk.Remove(p)
				}
			}
		}
	}()
	w, err := store.CreateWith(path, store.KindSegment, generation, f.options())
	if err != nil {
		return nil, entry, err
	}
	defer w.Abort()
	if err := segment.Write(ctx, w, g.input(), o); err != nil {
		return nil, entry, err
	}
	if err := w.Commit(); err != nil {
		return nil, entry, err
	}
	if entry.ManifestFile, err = named(w, path); err != nil {
		return nil, entry, err
	}
	entry.Documents = g.numbers.n
	b, err := x.writeBeside(beside, generation, entry.ID, g, dead)
	if err != nil {
		return nil, entry, err
	}
	entry.Beside = &b
	one := &Manifest{K: x.config.Design.K, Segments: []ManifestSegment{entry}, Generation: generation}
	made, err = one.openSegment(f.dir, 0, g.from, one.mapper())
	if err != nil {
		return nil, entry, err
	}
	made.from = g.from
	if err := made.Warm(); err != nil {
		made.close()
		return nil, entry, err
	}
	if x.workers != nil {
		if err := x.place(ctx, made); err != nil {
			made.close()
			return nil, entry, err
		}
	}
	f.owns(made)
	return made, entry, nil
}

// writeBeside writes the file beside a segment, for the manifest to name.
func (x *Index) writeBeside(path string, generation uint64, of string, g *gathered, dead []DocID) (ManifestFile, error) {
	ids := g.allIDs()
	if !g.ids {
		ids = nil
	}
	w, err := writeDocuments(path, generation, x.folder.options(), of, documents{numbers: g.numbers, expires: g.expires, tombstones: dead}, &x.key, ids)
	if err != nil {
		return ManifestFile{}, err
	}
	return named(w, path)
}

// owns has a segment's files removed when the last version that has it is released and it was
// dropped from the manifest.
func (f *folder) owns(s *Segment) {
	free := s.free
	paths := []string{s.file.Path()}
	if s.beside != nil {
		paths = append(paths, s.beside.file.Path())
	}
	s.free = func() error {
		err := free()
		if s.dropped {
			for _, p := range paths {
				f.disk.Remove(p) // what stays is removed when the index is opened again
			}
		}
		return err
	}
}
