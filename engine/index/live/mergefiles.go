package live

import (
	"context"
	"slices"

	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
)

// tendSegments merges segments until the index is closed. For want of memory or of room on
// the disk it waits; no insert fails for that.
func (u *upkeep) tendSegments() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	u.group.Go(func() {
		<-u.stop
		cancel()
	})
	for {
		select {
		case <-u.stop:
			return
		case <-u.merges:
		}
		for {
			more, err := u.mergePicked(ctx)
			if err != nil && !u.pause() || err == nil && !more {
				break
			}
		}
	}
}

func (u *upkeep) mergePicked(ctx context.Context) (more bool, err error) {
	u.merging.Lock()
	defer u.merging.Unlock()
	u.writer.mu.Lock()
	v := u.versions.Current()
	if v == nil || !u.folder.durable() && u.writer.short != nil { // memory is for what must go on
		u.writer.mu.Unlock()
		return false, nil
	}
	picked := pick(v.Segments, u.versions.Clock.Now())
	mark(picked, true)
	u.writer.mu.Unlock()
	if len(picked) == 0 {
		return false, nil
	}
	return true, u.mergeFiles(ctx, picked, 1)
}

// mergeFiles makes one segment of several that follow one another and are marked busy.
func (u *upkeep) mergeFiles(ctx context.Context, segments []*version.Segment, threads int) (err error) {
	defer func() {
		if err != nil {
			u.writer.mu.Lock()
			mark(segments, false)
			u.writer.mu.Unlock()
		}
	}()
	docs, bytes, now := uint64(0), uint64(0), u.versions.Clock.Now()
	for _, s := range segments {
		docs += s.Live(now)
		bytes += s.FileBytes()
	}
	o := u.fileOptions(threads, docs, u.writer.documents())
	reserved, err := u.reserveFiles(docs, bytes, gatherBytes(segments, now), 0, &o)
	if err != nil {
		return err
	}
	defer reserved.Release()
	refused := u.writer.refused.Load()
	g, err := gather(segments, nil, &u.config, now)
	if err != nil {
		return err
	}
	defer g.free()
	if err := u.writer.settled(refused); err != nil {
		return err
	}
	made, entry, err := u.toFile(ctx, g, g.older(), bytes, o)
	if err != nil {
		return err
	}
	u.folder.mu.Lock()
	defer u.folder.mu.Unlock()
	if err := u.folder.publish(func(m *Manifest) { m.replace(segments, entry) }); err != nil {
		made.Close()
		return err
	}
	for _, s := range segments {
		s.Dropped = true
	}
	u.install(g, made)
	return nil
}

// replace puts a segment in the place of others that follow one another.
func (m *Manifest) replace(segments []*version.Segment, by ManifestSegment) {
	at := -1
	for _, s := range segments {
		name := s.Name()
		i := slices.IndexFunc(m.Segments, func(g ManifestSegment) bool { return g.File == name })
		if at < 0 {
			at = i
		}
		m.Segments = slices.Delete(m.Segments, i, i+1)
	}
	m.Segments = slices.Insert(m.Segments, at, by)
}

// older returns the deletions, among those that stand beside the segments, of documents before
// them.
func (g *gathered) older() (dead []rows.DocID) {
	for _, s := range g.segments {
		for _, doc := range s.Older {
			if doc < g.from {
				dead = append(dead, doc)
			}
		}
	}
	slices.Sort(dead)
	return slices.Compact(dead)
}
