package segment

import (
	"ndd/engine/radix"
	"ndd/engine/store"
	"ndd/engine/succinct"
)

// ids tells the documents of a fingerprint by its rank in table 0. Documents
// are numbered by their row in the segment.
//
//	rank       0   1       2
//	ordinals   7   0 3 9   2        packed
//	firsts     1   1 0 0   1        absent when every fingerprint has one document
type ids struct {
	docs     uint64
	ordinals succinct.Packed
	firsts   *succinct.Ones
}

// appendKeys appends the distinct keys of sorted pairs to keys and builds ids.
func newIDs(pairs []radix.Pair) (keys []uint64, x ids) {
	x.docs = uint64(len(pairs))
	x.ordinals = succinct.NewPacked(x.docs, ordinalWidth(x.docs))
	firsts := make([]uint64, (x.docs+63)/64)
	keys = make([]uint64, 0, len(pairs))
	for i, p := range pairs {
		x.ordinals.Set(uint64(i), p[1])
		if i == 0 || p[0] != pairs[i-1][0] {
			keys = append(keys, p[0])
			firsts[i/64] |= 1 << (i % 64)
		}
	}
	if len(keys) < len(pairs) {
		ones := succinct.NewOnes(firsts)
		x.firsts = &ones
	}
	return keys, x
}

func ordinalWidth(docs uint64) int { return succinct.WidthFor(max(docs, 1) - 1) }

func (x *ids) write(sink store.Sink) error {
	sink.Section("ids.ordinals")
	_, err := sink.Write(store.Bytes64(x.ordinals.Words))
	if x.firsts != nil {
		sink.Section("ids.firsts")
		sink.Write(store.Bytes64(x.firsts.Words))
		sink.Section("ids.samples")
		_, err = sink.Write(store.Bytes64(x.firsts.Samples))
	}
	return err
}

func openIDs(source store.Source, docs, fingerprints uint64) (x ids, err error) {
	ordinals, err := source.Section("ids.ordinals")
	if err != nil {
		return x, err
	}
	x.docs = docs
	x.ordinals = succinct.Packed{Words: store.Uint64s(ordinals.Data), Width: ordinalWidth(docs)}
	if want := succinct.WordsFor(docs, x.ordinals.Width); uint64(len(ordinals.Data)) != 8*want {
		return x, ordinals.Corrupt(0, "%d bytes of ordinals for %d documents", len(ordinals.Data), docs)
	}
	if docs == fingerprints {
		return x, nil
	}
	firsts, err := source.Section("ids.firsts")
	if err != nil {
		return x, err
	}
	samples, err := source.Section("ids.samples")
	if err != nil {
		return x, err
	}
	if uint64(len(firsts.Data)) != (docs+63)/64*8 {
		return x, firsts.Corrupt(0, "%d bytes of bits for %d documents", len(firsts.Data), docs)
	}
	x.firsts = &succinct.Ones{Words: store.Uint64s(firsts.Data), Samples: store.Uint64s(samples.Data)}
	return x, nil
}

// of is the range of ordinals of the fingerprint of that rank.
func (x *ids) of(rank uint64) (from, to uint64, ok bool) {
	if x.firsts == nil {
		return rank, rank + 1, rank < x.docs
	}
	from, ok = x.firsts.Select(rank)
	if !ok {
		return 0, 0, false
	}
	to = min(x.firsts.Next(from), x.docs)
	return from, to, from < to
}
