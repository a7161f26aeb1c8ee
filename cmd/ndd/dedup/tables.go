package dedup

import (
	"bufio"
	"cmp"
	"sync"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/rewrite/droplist"
	"example.org/ndd/engine/near/dedup"
	"example.org/ndd/engine/result"
	"example.org/ndd/engine/storage/store"
)

// The columns of the tables of dedup. Those for rows are empty where the file is the document.
var (
	clusterColumns = cli.ColumnsOf("cluster:i id representative distance:i kept:b jaccard:r? contained:r? file? row:i? " +
		"representative_file? representative_row:i?")
	droppedColumns = cli.ColumnsOf("id kept_id distance:i jaccard:r? contained:r? file? row:i? kept_file? kept_row:i?")
	sourceColumns  = cli.ColumnsOf("source? documents:i dropped:i drop_rate:r kept:i kept_share:r kept_for_others:i")
	keptColumns    = cli.ColumnsOf("id reason? file? row:i?")
)

func tableFile(table string, f result.Format) string {
	if table == "kept" && f == result.TSV {
		return "kept.txt"
	}
	return table + "." + f.String()
}

// writeTables writes the tables of the result. It returns the number of dropped documents that have the ID of the kept
// document.
func writeTables(dir cli.Folder, f result.Format, c *dedup.Corpus, r *dedup.Result) (sameID int, err error) {
	t := &clusterTables{c: c, r: r}
	tables := []struct {
		name    string
		columns []result.Column
		fill    func(*result.TableWriter) error
	}{{"clusters", clusterColumns, t.clusters}, {"dropped", droppedColumns, t.dropped}, {"kept", keptColumns, t.kept},
		{"sources", sourceColumns, t.sources}}
	errs := make([]error, len(tables))
	var group sync.WaitGroup
	for i, table := range tables {
		group.Go(func() {
			defer store.EndFaults(store.BeginFaults(), &errs[i]) // temporary files are mapped
			errs[i] = dir.Write(tableFile(table.name, f), func(w *bufio.Writer) error {
				out := result.NewTableWriter(w, f, table.columns...)
				return cmp.Or(table.fill(out), out.Close())
			})
		})
	}
	group.Wait()
	if err := cmp.Or(cmp.Or(errs...), writeDecisions(dir, c, r)); err != nil {
		return 0, err
	}
	return t.sameID, nil
}

// writeDecisions writes the decisions by input file, if the input files are known.
func writeDecisions(dir cli.Folder, c *dedup.Corpus, r *dedup.Result) (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	if c.Inputs == nil {
		return nil
	}
	var files []droplist.InputFile
	for _, in := range c.Inputs {
		files = append(files, droplist.InputFile{Path: in.File, Bytes: in.Bytes, Content: in.Content})
	}
	return cli.WriteDecisions(dir, files, func(yield func(droplist.Decision) bool) {
		for id, at := range dedup.DroppedInOrder(r) {
			if !yield(droplist.Decision{File: at.File, Row: at.Row, ID: id}) {
				return
			}
		}
	})
}

// clusterTables write a result row by row.
type clusterTables struct {
	c *dedup.Corpus
	r *dedup.Result

	sameID int // dropped documents with the ID of the document that is kept for them
}

// place writes the two cells of a place.
func place(t *result.TableWriter, p dedup.Place) *result.TableWriter {
	if p.File == "" {
		return t.Null().Null()
	}
	return t.Text(p.File).Row(p.Row)
}

// likeness writes the two cells of a likeness. A cell is empty if the value is unknown.
func likeness(w *result.TableWriter, l dedup.Likeness) *result.TableWriter {
	for _, share := range []float32{l.Jaccard, l.Contained} {
		if share > 0 {
			w.Real(float64(share))
		} else {
			w.Null()
		}
	}
	return w
}

func (t *clusterTables) clusters(w *result.TableWriter) error {
	for cl := range t.r.Clusters() {
		kept, p := t.c.ID(cl.Kept), t.c.Place(cl.Kept)
		for i, row := range cl.Rows {
			w.Integer(int64(cl.Number)).Text(t.c.ID(row)).Text(kept).Integer(int64(t.r.Distance(row,
				cl.Kept))).Flag(row == cl.Kept)
			if err := place(place(likeness(w, cl.Likes[i]), t.c.Place(row)), p).End(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *clusterTables) dropped(w *result.TableWriter) error {
	for d := range t.r.Dropped() {
		var kept dedup.Place
		if d.KeptRow >= 0 {
			kept = t.c.Place(dedup.Row(d.KeptRow))
		}
		id := t.c.ID(d.Row)
		if id == d.Kept && d.KeptRow >= 0 {
			t.sameID++
		}
		w.Text(id).Text(d.Kept).Integer(int64(d.Distance))
		if err := place(place(likeness(w, d.Likeness), t.c.Place(d.Row)), kept).End(); err != nil {
			return err
		}
	}
	return nil
}

func (t *clusterTables) sources(w *result.TableWriter) error {
	list, kept := t.r.Sources(), 0
	for _, s := range list {
		kept += s.Kept()
	}
	for _, s := range list {
		if s.Source == "" {
			w.Null()
		} else {
			w.Text(s.Source)
		}
		if err := w.Integer(int64(s.Documents)).Integer(int64(s.Dropped)).Real(rate(s.Dropped, s.Documents)).
			Integer(int64(s.Kept())).Real(rate(s.Kept(), kept)).Integer(int64(s.KeptFor)).End(); err != nil {
			return err
		}
	}
	return nil
}

func (t *clusterTables) kept(w *result.TableWriter) error {
	for d := range t.r.Kept() {
		if w.Text(d.ID); d.Short {
			w.Text("too short for a fingerprint")
		} else {
			w.Null()
		}
		if err := place(w, d.Place).End(); err != nil {
			return err
		}
	}
	return nil
}
