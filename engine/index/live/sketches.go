package live

import (
	"encoding/json"
	"fmt"
	"iter"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/store"
)

// The sketches of a segment's documents are in a separate file, which is always mapped: a search reads one line of it
// for each candidate, and nothing else of it is in memory. A file of sketches has the sections
//
//	segment    JSON: identity of the segment's file, rows, version of the sketches
//	sketches   64 bytes a row, as 64-bit words; zeros for a document without a sketch

// sketchesHead is the section "segment" of a file of sketches.
type sketchesHead struct {
	Segment string `json:"segment"`
	Rows    uint64 `json:"rows"`
	Version int    `json:"version"`
}

// writeSketches writes the file of the sketches of a segment with the given identity and number of rows, and returns
// its entry for the manifest.
func writeSketches(path string, generation uint64, o store.Options, segment string, n uint64,
	sketches iter.Seq[[]sketch.Sketch]) (file ManifestFile, err error) {
	o.Bytes = sketch.Bytes * n
	head, err := json.Marshal(sketchesHead{segment, n, sketch.Version})
	if err != nil {
		return file, err
	}
	return writeFile(path, store.KindSketches, generation, o, func(w *store.Writer) error {
		store.WriteSection(w, "segment", head) // Commit reports errors of these writes
		w.Section("sketches")
		written := uint64(0)
		for part := range sketches {
			if _, err := w.Write(memory.Cast[byte](part)); err != nil {
				return err
			}
			written += uint64(len(part))
		}
		if written != n {
			return fmt.Errorf("%d sketches of %d documents", written, n)
		}
		return nil
	})
}

// parseSketches reads the file of the sketches of a segment.
func parseSketches(f *store.File, g *ManifestSegment) (_ []sketch.Sketch, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	s, err := f.Section("segment")
	if err != nil {
		return nil, err
	}
	var head sketchesHead
	if err := s.JSON(&head); err != nil {
		return nil, err
	}
	if head != (sketchesHead{g.ID, g.Documents, sketch.Version}) {
		return nil, s.Corrupt(0, "%d sketches of version %d for segment %s; %d of version %d for %s are needed", head.Rows,
			head.Version, head.Segment, g.Documents, sketch.Version, g.ID)
	}
	if s, err = store.SectionOf(f, "sketches", sketch.Bytes*g.Documents); err != nil {
		return nil, err
	}
	return memory.Cast[sketch.Sketch](s.Data), nil
}

// Verifier returns the verifier of queries with these sketches, with the threshold of the index.
func (c *Config) Verifier(queries []sketch.Sketch) rows.Verifier {
	threshold := c.Threshold
	if threshold == 0 {
		threshold = sketch.DefaultThreshold
	}
	return rows.Verifier{Queries: queries, Threshold: max(threshold, 0)}
}
