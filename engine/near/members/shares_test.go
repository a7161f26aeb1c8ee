package members

import (
	"fmt"
	"strings"
	"testing"

	"ndd/engine/corpus/format"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/input"
	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/near/dedup"
	"ndd/engine/oracle/files"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/store"
)

// sharedCorpus writes a folder of documents, of which some are near others, too short or broken.
func sharedCorpus(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for i := range 9 {
		lines := ""
		for j := range 5 + i*3%7 {
			text := fmt.Sprintf("%s, as the clerk of the %dth house wrote on page %d", rivers, (i*5+j)%6, (i+j)%4)
			switch (i + j) % 8 {
			case 5:
				text = fmt.Sprint("few ", i, j) // fingerprint files do not say which of these are equal
			case 6:
				lines += "broken\n"
			}
			lines += fmt.Sprintf(`{"id":"%d-%d","text":%q}`+"\n", i, j, text)
		}
		files.Write(t, map[string]string{fmt.Sprintf("in/%d.jsonl", i): lines})
	}
	files.Write(t, map[string]string{"in/a.txt": bread, "in/b/c.txt": bread, "in/b/d.txt": "few"})
}

// shareOf writes the fingerprint file of a share of the folder in.
func shareOf(t *testing.T, i, of int) string {
	t.Helper()
	s, err := input.NewShare(t.Context(), []string{"in"}, i, of)
	must.Do(t, err)
	path := fmt.Sprintf("%d.ndf", i)
	w, err := ndf.Create(path, simhash.Default(), store.Options{})
	must.Do(t, err)
	defer w.Abort()
	w.KeepPlaces(ndf.Share{Number: i, Of: of, Digest: s.Digest})
	cfg := ingest.Config{Document: format.Options{Share: s}}
	_, err = ingest.Run(t.Context(), []string{"in"}, cfg, func(r ingest.Record) error {
		at := ndf.Place{File: r.Source, Order: s.Place(r.Source), Row: int64(r.Line)}
		if !r.OK {
			return w.AppendUnmarked(r.ID, at)
		}
		return w.Append(ndf.Document{ID: r.ID, Fingerprint: r.Fingerprint, TextBytes: r.TextBytes, Place: at})
	})
	if err == nil {
		err = w.Commit()
	}
	must.Do(t, err)
	return path
}

// said returns everything that the result of a search says of documents.
func said(t *testing.T, c *dedup.Corpus, o dedup.Options) string {
	t.Helper()
	r, err := dedup.Find(t.Context(), c, o)
	must.Do(t, err)
	var b strings.Builder
	for cluster := range r.Clusters() {
		fmt.Fprintln(&b, cluster)
	}
	for d := range r.Dropped() {
		fmt.Fprintln(&b, d, c.ID(d.Row), c.Place(d.Row))
	}
	for k := range r.Kept() {
		fmt.Fprintln(&b, k)
	}
	return b.String()
}
