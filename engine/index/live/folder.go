package live

import (
	"io"
	"slices"
	"sync"

	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// A folder has the files that an index makes: on the disk where the index is open for writing, else
// in memory, without a manifest. Its files are never changed: a segment is written under a new
// number, a new manifest names it, and what that no longer names is removed when the last reader
// has released it.
type folder struct {
	dir    string // empty in memory
	disk   *disk.Disk
	random io.Reader // of identities
	lock   *disk.Lock
	clock  *rows.Clock

	mu       sync.Mutex // held by who makes the next manifest; taken before writer.mu
	manifest *Manifest  // the current one
	files    uint64     // number of the next file; beyond the manifest's where one was given up
}

// inMemory returns the folder of an index whose changes are gone with the process.
func inMemory() *folder {
	return &folder{disk: disk.InMemory(), manifest: &Manifest{Live: &ManifestLive{}}}
}

// durable reports whether the files are on the disk.
func (f *folder) durable() bool { return !f.disk.IsInMemory() }

func (f *folder) options() store.Options { return store.Options{Disk: f.disk, Random: f.random} }

// current returns the manifest that is there.
func (f *folder) current() *Manifest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.manifest
}

// publish writes the next manifest: the current one as edit changes it. The caller holds mu. After
// an error it is not known which of the two is there, so the files of both stay until the index is
// opened again.
func (f *folder) publish(edit func(*Manifest)) error {
	if !f.durable() {
		return nil
	}
	next := *f.manifest
	live := *f.manifest.Live
	next.Live, next.Segments = &live, slices.Clone(f.manifest.Segments)
	edit(&next)
	f.manifest.Generation++ // whatever comes of it: no two manifests are of one generation
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

// owns has a segment's files removed when the last version that has it is released and it was
// dropped from the manifest.
func (f *folder) owns(s *version.Segment) {
	s.Owned = true
	if !f.durable() { // they have no names any more
		s.Bytes, s.File = s.FileBytes(), nil
		return
	}
	free := s.Free
	paths := []string{s.File.Path()}
	if s.Beside != nil {
		paths = append(paths, s.Beside.Path())
	}
	s.Free = func() error {
		err := free()
		if s.Dropped {
			for _, p := range paths {
				f.disk.Remove(p) // what stays is removed when the index is opened again
			}
		}
		return err
	}
}
