package worker

import (
	"cmp"
	"context"
	"strings"

	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/numa"
)

// A source is a file with some sections replaced by copies.
type source struct {
	*store.File
	moved map[string][]byte
}

func (s source) Section(name string) (store.Section, error) {
	section, err := s.File.Section(name)
	if data, ok := s.moved[name]; ok && err == nil {
		section.Data = data
	}
	return section, err
}

// sectionsOf returns the sections that a search of a table reads. The numbers of documents belong to table 0.
func sectionsOf(f *store.File, table int) (list []store.Section) {
	for _, s := range f.Sections() {
		if strings.HasPrefix(s.Name, segment.TablePrefix(table)) || table == 0 && strings.HasPrefix(s.Name, "ids.") {
			list = append(list, s)
		}
	}
	return list
}

const (
	// alignBytes is the alignment of sections in a file and in an arena.
	alignBytes = 4096
	// copyBytes is the number of bytes that are copied at once.
	copyBytes = 8 << 20
)

func arenaBytes(sections []store.Section) (sum uint64) {
	for _, s := range sections {
		sum += (uint64(len(s.Data)) + alignBytes - 1) &^ (alignBytes - 1)
	}
	return sum
}

// copySections copies sections into an arena, by workers on its node. It adds the copies to moved.
func copySections(ctx context.Context, h *numa.Host, a *numa.Arena, sections []store.Section,
	moved map[string][]byte) error {
	type part struct{ dst, src []byte }
	var list []part
	offset := uint64(0)
	for _, s := range sections {
		dst := a.Data[offset : offset+uint64(len(s.Data)) : offset+uint64(len(s.Data))]
		moved[s.Name] = dst
		offset += arenaBytes([]store.Section{s})
		for i := 0; i < len(dst); i += copyBytes {
			end := min(i+copyBytes, len(dst))
			list = append(list, part{dst[i:end], s.Data[i:end]})
		}
	}
	errs := make([]error, len(list))
	h.Each(a.Node, len(list), func(i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			errs[i] = copyMapped(list[i].dst, list[i].src)
		}
	})
	return cmp.Or(errs...)
}

// copyMapped copies from a mapped file, which may be truncated meanwhile.
func copyMapped(dst, src []byte) (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	copy(dst, src)
	return nil
}
