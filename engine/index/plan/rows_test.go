package plan

import (
	"math/rand/v2"
	"testing"

	"ndd/engine/index/segment"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// TestRowBytes holds what ids are said to take against segments with and without repetitions, and a
// plan against one that takes every document for a fingerprint.
func TestRowBytes(t *testing.T) {
	design, err := permute.Named("halves", 3, 1)
	must.Do(t, err)
	rng := rand.New(rand.NewPCG(9, 9))
	for _, repeated := range []int{1, 2, 10, 5000} {
		prints := make([]uint64, 5000)
		if repeated == 2 {
			prints = make([]uint64, 70_000) // whose rows are in blocks
		}
		for i := range prints {
			if prints[i] = rng.Uint64(); i%repeated > 0 {
				prints[i] = prints[i-1]
			}
		}
		var m store.Memory
		must.Do(t, segment.Write(t.Context(), &m, segment.Input{Fingerprints: prints}, segment.Options{Design: design}))
		built := 0
		for _, name := range []string{"ids.ordinals", "ids.firsts", "ids.samples"} {
			if s, err := m.Source().Section(name); err == nil {
				built += len(s.Data)
			}
		}
		r := Request{Fingerprints: uint64(len(prints) / repeated), Documents: uint64(len(prints))}
		if got := r.rowBytes(); got != uint64(built) {
			t.Errorf("each %d times: %d bytes of ids, %d built", repeated, got, built)
		}
	}
}

// TestDocumentsBeyondFingerprints plans for documents of which nine in ten repeat another: tables are
// for the fingerprints that there are, ids for all documents.
func TestDocumentsBeyondFingerprints(t *testing.T) {
	r := Request{Fingerprints: 1e6, Documents: 1e7, K: 3, IDs: IDsRows, Seed: 1}
	few, err := New(t.Context(), r)
	must.Do(t, err)
	r.Fingerprints, r.Documents = 1e7, 0
	all, err := New(t.Context(), r)
	must.Do(t, err)
	for i := range few.Options {
		o := &few.Options[i]
		if o.TableBytes > all.Options[i].TableBytes/7 || o.IDBytes < all.Options[i].IDBytes ||
			o.IDBytes > all.Options[i].IDBytes*21/20 {
			t.Errorf("%s: %d bytes of tables and %d of ids, for all documents %d and %d", o.Name, o.TableBytes, o.IDBytes,
				all.Options[i].TableBytes, all.Options[i].IDBytes)
		}
	}
	r.Fingerprints, r.Documents = 10, 9
	if _, err := New(t.Context(), r); err == nil {
		t.Error("fewer documents than fingerprints are taken")
	}
}
