package segment

import (
	"fmt"
	"iter"

	"ndd/engine/storage/store"
)

// lengthsSection has the length of each document's text by row, a little-endian uint32 of bytes,
// 2^32-1 for more; 0 is not known. It is there where [Input.Lengths] was: 4 bytes a document.
const lengthsSection = "text.bytes"

// writeLengths writes the lengths of the documents' texts, of which there must be docs.
func writeLengths(sink store.Sink, lengths iter.Seq[[]uint32], docs int) error {
	sink.Section(lengthsSection)
	seen := 0
	for part := range lengths {
		if _, err := sink.Write(store.Bytes32(part)); err != nil {
			return err
		}
		seen += len(part)
	}
	if seen != docs {
		return fmt.Errorf("%d lengths of texts for %d documents", seen, docs)
	}
	return nil
}

// openLengths returns the lengths of the texts of docs documents.
func openLengths(source store.Source, docs uint64) ([]uint32, error) {
	s, err := store.SectionOf(source, lengthsSection, 4*docs)
	if err != nil {
		return nil, err
	}
	if docs == 0 {
		return []uint32{}, nil // which says that they are kept
	}
	return store.Uint32s(s.Data), nil
}

// Lengths returns the lengths of the documents' texts in bytes, by row: nil where they are not
// kept, and 0 for those that are not known. They are mapped, must not be written, and not be used
// once the source is closed.
func (s *Segment) Lengths() []uint32 { return s.lengths }
