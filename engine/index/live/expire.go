package live

import (
	"context"
	"errors"
	"slices"
	"time"

	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
)

// expireEvery is how often the index looks for segments that have expired. Queries see none of
// their documents anyway; this gives their room back.
const expireEvery = time.Second

// clockEvery is how often the manifest gets the time at least, while documents expire.
const clockEvery = time.Hour

// heldEvery is how often the manifest gets what the log holds: the loss of records before that is
// noticed.
const heldEvery = time.Minute

// expire drops segments that have expired, and has others merged of which much has, until the index
// is closed. It watches the clock.
func (u *upkeep) expire() {
	stopped := u.watchClock(false)
	for n := 1; ; n++ {
		select {
		case <-u.stop:
			return
		case <-time.After(expireEvery):
		}
		stopped = u.watchClock(stopped)
		u.keep(n%int(heldEvery/expireEvery) == 0) // as below
		if u.versions.Clock.Now() != 0 {
			u.DropExpired(context.Background()) // what fails is tried again
		}
	}
}

// watchClock reports whether the clock of an index with documents that expire is stopped, and tells
// of that once.
func (u *upkeep) watchClock(told bool) bool {
	jump := u.versions.Clock.Jump()
	if jump == 0 || u.versions.Clock.Now() == 0 {
		return false
	}
	if !told && u.config.jumped != nil {
		u.config.jumped(jump)
	}
	return true
}

// keep puts the time in the manifest, if documents expire and an hour has passed, and with records
// what the log holds, if that has changed.
func (u *upkeep) keep(records bool) error {
	live, now := u.folder.current().Live, u.versions.Clock.Now()
	late := now != 0 && now >= live.Time+rows.Time(clockEvery/time.Second)
	if u.folder.durable() && (late || records && u.writer.logged.Load() > live.Held) {
		return u.nameLog(func(*Manifest) {})
	}
	return nil
}

// DropExpired drops each segment whose documents have all expired, without reading it, and wakes
// the merges of those of which a quarter has. The index does that by itself each second. Errors are
// those of writing the manifest.
func (u *upkeep) DropExpired(ctx context.Context) (err error) {
	defer u.wakeMerger()
	u.merging.Lock()
	defer u.merging.Unlock()
	gone := u.markExpired()
	for i, s := range gone {
		if len(s.Older) > 0 { // an empty segment keeps the deletions of earlier documents
			err = errors.Join(err, u.mergeFiles(ctx, gone[i:i+1], 1))
		} else {
			err = errors.Join(err, u.dropFile(s))
		}
	}
	return err
}

// markExpired returns the segments that have expired, marked as busy.
func (u *upkeep) markExpired() (gone []*version.Segment) {
	u.writer.mu.Lock()
	defer u.writer.mu.Unlock()
	v, now := u.versions.Current(), u.versions.Clock.Now()
	if v == nil {
		return nil
	}
	for _, s := range v.Segments {
		if s.Owned && !s.Busy && s.Expires.All(now) {
			gone = append(gone, s)
		}
	}
	mark(gone, true)
	return gone
}

// dropFile drops a segment from the manifest, then from the index.
func (u *upkeep) dropFile(s *version.Segment) error {
	u.folder.mu.Lock()
	defer u.folder.mu.Unlock()
	err := u.folder.publish(func(m *Manifest) {
		m.Segments = slices.DeleteFunc(m.Segments, func(g ManifestSegment) bool { return g.File == s.Name() })
	})
	u.writer.mu.Lock()
	defer u.writer.mu.Unlock()
	if err != nil {
		mark([]*version.Segment{s}, false)
		return err
	}
	s.Dropped = true
	defer u.writer.wakeWaiting()
	return u.writer.applyEdit(version.Edit{Remove: []*version.Segment{s}})
}
