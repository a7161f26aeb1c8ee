package live

import (
	"context"
	"errors"
	"slices"
	"time"
)

// expireEvery is how often the index looks for segments that have expired. Queries see none of
// their documents anyway; this gives their room back.
const expireEvery = time.Second

// expire drops segments that have expired, and has others merged of which much has, until the index
// is closed.
func (x *Index) expire() {
	for {
		select {
		case <-x.stop:
			return
		case <-time.After(expireEvery):
		}
		if x.wall.now() != 0 {
			x.DropExpired(context.Background()) // what fails is tried again
		}
	}
}

// DropExpired drops each segment whose documents have all expired, without reading it, and wakes the
// merges of those of which a quarter has. The index does that by itself each second. Errors are
// those of writing the manifest.
func (x *Index) DropExpired(ctx context.Context) error {
	x.dropInMemory()
	if x.folder == nil {
		x.wakeMerger()
		return nil
	}
	err := x.dropFiles(ctx)
	x.wakeMerger()
	return err
}

// dropInMemory drops the segments in memory that have expired. Their log records stay until the next
// flush; whoever reads them again finds them expired.
func (x *Index) dropInMemory() {
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	v, now := x.current.Load(), x.wall.now()
	if v == nil {
		return
	}
	var gone []*Segment
	for _, s := range v.segments {
		if s.file == nil && !s.busy && s.expires.all(now) {
			gone = append(gone, s)
		}
	}
	if len(gone) > 0 {
		x.Apply(Edit{Remove: gone})
		x.wakeWaiting()
	}
}

// dropFiles drops the segments in files that have expired. One that has deletions of earlier
// documents beside it is merged into one of nothing, which keeps those.
func (x *Index) dropFiles(ctx context.Context) (err error) {
	x.merging.Lock()
	defer x.merging.Unlock()
	gone := x.markExpired()
	for i, s := range gone {
		if s.beside != nil && len(s.beside.tombstones) > 0 {
			err = errors.Join(err, x.mergeFiles(ctx, gone[i:i+1], 1))
		} else {
			err = errors.Join(err, x.dropFile(s))
		}
	}
	return err
}

// markExpired returns the segments in files that have expired, marked as busy.
func (x *Index) markExpired() (gone []*Segment) {
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	v, now := x.current.Load(), x.wall.now()
	if v == nil {
		return nil
	}
	for _, s := range v.segments {
		if s.file != nil && !s.busy && s.expires.all(now) {
			gone = append(gone, s)
		}
	}
	mark(gone, true)
	return gone
}

// dropFile drops a segment from the manifest, then from the index.
func (x *Index) dropFile(s *Segment) error {
	x.folder.mu.Lock()
	defer x.folder.mu.Unlock()
	name := s.name()
	err := x.folder.publish(func(m *Manifest) {
		m.Segments = slices.DeleteFunc(m.Segments, func(g ManifestSegment) bool { return g.File == name })
	})
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	if err != nil {
		mark([]*Segment{s}, false)
		return err
	}
	s.dropped = true
	return x.Apply(Edit{Remove: []*Segment{s}})
}
