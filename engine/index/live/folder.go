package live

import (
	"slices"
	"sync"

	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// A folder manages the files of an index: on disk if the index is open for writing, otherwise in memory and without a
// manifest. Files never change: a segment is written under a new number, and a new manifest names it. A file that no
// manifest names is removed when the last reader has released it.
type folder struct {
	dir   string // empty in memory
	disk  *disk.Disk
	lock  *disk.Lock
	clock *rows.Clock

	mu       sync.Mutex // guards the next manifest; taken before writer.mu
	manifest *Manifest  // the current one
	files    uint64     // number of the next file; larger than the manifest's after a failed write
}

// inMemory returns a folder in memory.
func inMemory() *folder {
	return &folder{disk: disk.InMemory(), manifest: &Manifest{Live: &ManifestLive{}}}
}

// durable reports whether the files are on the disk.
func (f *folder) durable() bool { return !f.disk.IsInMemory() }

func (f *folder) options() store.Options { return store.Options{Disk: f.disk} }

// current returns the current manifest.
func (f *folder) current() *Manifest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.manifest
}

// publish writes the next manifest: the current one, changed by edit. The caller holds mu. After an error it is unknown
// which of the two is on disk, so the files of both stay until the index is opened again.
func (f *folder) publish(edit func(*Manifest)) error {
	if !f.durable() {
		return nil
	}
	next := *f.manifest
	live := *f.manifest.Live
	next.Live, next.Segments = &live, slices.Clone(f.manifest.Segments)
	edit(&next)
	f.manifest.Generation++ // even after an error: no two manifests have the same generation
	next.Generation = f.manifest.Generation
	live.Files = f.files
	if now := f.clock.Now(); now != 0 {
		live.Time = now
	}
	if err := writeManifest(f.dir, next.Generation, f.options(), &next); err != nil {
		return err
	}
	f.manifest = &next
	return nil
}

// owns makes the last release of a segment remove its files, if the manifest does not name them any more.
func (f *folder) owns(s *version.Segment) {
	s.Owned = true
	if !f.durable() { // files in memory have no names
		s.Bytes, s.File = s.FileBytes(), nil
		return
	}
	free, files := s.Free, s.Files()
	s.Free = func() error {
		err := free()
		if s.Dropped {
			for _, file := range files {
				f.disk.Remove(file.Path()) // after an error, the next opening removes it
			}
		}
		return err
	}
}
