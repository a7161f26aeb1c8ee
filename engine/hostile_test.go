package engine

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

// An adversary changes the manifest of a golden index and repairs its checksums. The segment of the index is not
// changed.
type adversary struct {
	dir      string
	sections []store.Section
	queries  []uint64
	want     string
}

func newAdversary(t testing.TB) *adversary {
	t.Helper()
	a := &adversary{dir: filepath.Join(golden, "planar")}
	a.sections = hostile.Sections(t, filepath.Join(a.dir, "manifest"), store.KindManifest)
	pages := openFile(t, filepath.Join(golden, "pages.ndf"))
	a.queries = append(a.queries, pages.Fingerprints()[:3]...)
	a.want = a.answers(t, a.sections)
	if a.want == "" {
		t.Fatal("no answer")
	}
	return a
}

// answers opens the index with a manifest of these sections, and returns its answers. They are empty if the manifest or
// the index is refused with a typed error. Other errors fail the test, and so does an index that differs from its
// manifest.
func (a *adversary) answers(t testing.TB, sections []store.Section) string {
	t.Helper()
	f := hostile.File(t, store.KindManifest, sections)
	var m *live.Manifest
	var err error
	hostile.Allocates(t, hostile.Limit(f.Bytes()), func() { m, err = live.ParseManifest(f) })
	var x *Index
	if err == nil {
		var opened *live.Index
		opened, err = m.Open(t.Context(), a.dir, live.OpenOptions{Threads: 1})
		x = &Index{opened}
	}
	if err != nil {
		if !missing(err) {
			hostile.Expect(t, "open", err)
		}
		return ""
	}
	defer x.Close()
	documents := uint64(0)
	for _, s := range m.Segments {
		documents += s.Documents
	}
	if s := x.Stats(); s.Documents != documents || x.Design().K != m.K {
		t.Errorf("%d documents, k = %d; the manifest says %d, %d", s.Documents, x.Design().K, documents, m.K)
	}
	var out bytes.Buffer
	for _, q := range a.queries {
		hits, err := x.Query(t.Context(), simhash.Fingerprint(q), QueryOptions{K: 3, Docs: AllDocs})
		must.Do(t, err)
		for _, h := range hits {
			out.WriteString(h.Fingerprint.String())
		}
	}
	return out.String()
}

// missing reports whether an error is about a missing segment. Such an error has no offset.
func missing(err error) bool {
	return errors.Is(err, store.ErrCorrupt) && strings.Contains(err.Error(), "the manifest names this file")
}

// try requires that a change is refused or changes no answer.
func (a *adversary) try(t testing.TB, c hostile.Change) {
	t.Helper()
	if got := a.answers(t, c.Apply(a.sections)); got != "" && got != a.want {
		t.Errorf("%+v: other answers", c)
	}
}

// TestHostileManifest changes every byte of a manifest to several others, and writes manifests of other indexes and
// invalid ones.
func TestHostileManifest(t *testing.T) {
	a := newAdversary(t)
	data := a.sections[0].Data
	rng := rand.New(rand.NewPCG(8, 8))
	for pos := range data {
		for _, b := range []byte{'0', '9', '"', '}', ',', ' ', byte(rng.Uint32())} {
			a.try(t, hostile.Change{Offset: uint16(pos), Bytes: []byte{b}})
		}
		a.try(t, hostile.Change{Offset: uint16(pos), Length: uint16(1 + pos)})
	}
	for order := range uint8(4) {
		a.try(t, hostile.Change{Order: order})
	}
	for _, c := range []struct{ old, replacement string }{
		{`"k": 3`, `"k": 9`},
		{`"k": 3`, `"k": -3`},
		{`"k": 3`, `"k": 3, "more": 1`},
		{`"file": "00000001.segment"`, `"file": "../huffman/00000001.segment"`},
		{`"file": "00000001.segment"`, `"file": "00000002.segment"`},
		{`"file": "00000001.segment"`, `"file": "manifest"`},
		{`"file": "00000001.segment"`, `"file": ""`},
		{`"documents": 400`, `"documents": 401`},
		{`"documents": 400`, `"documents": 18446744073709551615`},
		{`"documents": 400`, `"documents": -1`},
		{`"segments": [`, `"segments": [], "segments2": [`},
		{`"version": 1`, `"version": 2`},
	} {
		bad := bytes.Replace(data, []byte(c.old), []byte(c.replacement), 1)
		if bytes.Equal(bad, data) {
			t.Fatalf("the manifest does not say %s", c.old)
		}
		if got := a.answers(t, []store.Section{{Name: "manifest", Data: bad}}); got != "" {
			t.Errorf("%s is taken", c.replacement)
		}
	}
	for _, bad := range [][]byte{append(bytes.Clone(data), "{}"...), bytes.Repeat([]byte(" "), live.ManifestMax+1),
		[]byte("null"), {}} {
		if got := a.answers(t, []store.Section{{Name: "manifest", Data: bad}}); got != "" {
			t.Errorf("a manifest of %d bytes is taken", len(bad))
		}
	}
}

// FuzzManifest opens indexes whose manifest was changed by somebody who repairs every checksum.
func FuzzManifest(f *testing.F) {
	a := newAdversary(f)
	data := a.sections[0].Data
	for _, pos := range []string{`3`, `400`, `00000001`, `{`, `]`} {
		f.Add(uint16(0), uint16(bytes.Index(data, []byte(pos))), []byte("7"), uint8(0))
	}
	f.Add(uint16(20), uint16(0), []byte(`{"segments":[{}]}`), uint8(2))
	f.Fuzz(func(t *testing.T, length, offset uint16, content []byte, order uint8) {
		a.try(t, hostile.Change{Length: length, Offset: offset, Bytes: content, Order: order})
	})
}
