// Package members compares the texts of a corpus in parts, if the corpus was read from shares of its inputs:
//
//	corpus --Find, Verify.Sets: Of--> table of members           the documents whose texts are needed
//	table, a share of the inputs --WriteSets--> file of sets     the shingles of those in the share
//	corpus, files of all shares --Find, Verify.Sets: Sets--> result   the result of reading the texts
//
// A set has 8 bytes for each distinct shingle of a member. A file of sets is a file of package store. It has the
// sections shingles, members (a number for each set), ends (of each set) and table (the digest and the length of the
// table), all uint64.
package members

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"ndd/engine/corpus/format"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/input"
	"ndd/engine/corpus/rewrite/droplist"
	"ndd/engine/corpus/simhash"
	"ndd/engine/corpus/text"
	"ndd/engine/near/dedup"
	"ndd/engine/near/rowset"
	"ndd/engine/near/shingle"
	"ndd/engine/result"
	"ndd/engine/storage/object"
	"ndd/engine/storage/store"
)

// A Member is a document that is near another one, so that its text is needed.
type Member struct {
	dedup.Place
	TextBytes int64
}

// digest adds the member to the digest of a table.
func (m *Member) digest(h hash.Hash64) {
	fmt.Fprintf(h, "%s\x00%d\x00%d\n", m.File, m.Row, m.TextBytes)
}

// Of yields the documents of some rows.
func Of(d dedup.Documents, rows []dedup.Row) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		for _, row := range rows {
			if !yield(Member{d.Place(row), d.TextBytes(row)}) {
				return
			}
		}
	}
}

// A memberOf is a member of a file: its row, its number in the table, and the length of its text.
type memberOf struct{ row, number, bytes int64 }

func (m memberOf) compare(row int64) int { return cmp.Compare(m.row, row) }

// A Table is a table of members. It holds those in a share.
type Table struct {
	files  map[string]*[]memberOf
	digest hash.Hash64
	n      uint64
	mine   int
}

// Len returns the number of members in the share.
func (m *Table) Len() int { return m.mine }

// Read reads a table of members with the columns file, row and text_bytes. It keeps those in a share of the inputs, or
// all of them if share is nil.
func Read(ctx context.Context, path string, inputs []string, share *input.Share) (*Table, error) {
	m := &Table{files: map[string]*[]memberOf{}, digest: xxhash.New()}
	all := map[string]bool{}
	droplist.Files(ctx, inputs, share, all, m.files)
	want := []string{"file", "row", "text_bytes"}
	err := result.ReadTable(ctx, path, func(have []string) ([]string, error) {
		for _, name := range want {
			if !slices.Contains(have, name) {
				return nil, fmt.Errorf("no column %s: 'ndd dedup --members' writes the table", name)
			}
		}
		return want, nil
	}, func(cells []result.Cell) error {
		one := Member{Place: dedup.Place{File: cells[0].Text}}
		var err, err2 error
		one.Row, err = droplist.RowOf(cells[1])
		if one.TextBytes, err2 = strconv.ParseInt(cells[2].Text, 10, 64); err != nil || err2 != nil {
			return errors.Join(err, err2)
		}
		one.digest(m.digest)
		m.n++
		key := object.Clean(one.File)
		if !all[key] {
			return fmt.Errorf("%s is no input: give the inputs as 'ndd fingerprint --shard' had them", one.File)
		}
		if f := m.files[key]; f != nil {
			*f = append(*f, memberOf{one.Row, int64(m.n) - 1, one.TextBytes})
			m.mine++
		}
		return nil
	})
	if err == nil {
		for _, f := range m.files {
			slices.SortFunc(*f, func(a, b memberOf) int { return a.compare(b.row) })
		}
	}
	return m, err
}

// WriteSets reads the files of cfg.Document.Share and writes the shingles of the members in them to a file. It returns
// an error if a member has changed.
func (m *Table) WriteSets(ctx context.Context, path string, inputs []string, cfg ingest.Config,
	o store.Options) error {
	if cfg.Recipe == (simhash.Recipe{}) {
		cfg.Recipe = simhash.Default()
	}
	cfg.Document.Extract, cfg.Document.Strict = text.Extraction(cfg.Recipe.Extract), false
	w, err := store.CreateWith(path, store.KindShingles, 0, o)
	if err != nil {
		return err
	}
	defer w.Abort()
	type set struct {
		number   int64
		shingles []uint64
	}
	var numbers, ends []uint64
	end := uint64(0)
	w.Section("shingles")
	_, err = ingest.Extract(ctx, inputs, cfg, ingest.Steps[set]{
		Worker: func(ctx context.Context) (func(int, *format.Document) (set, error), error) {
			shingler := shingle.New(ctx)
			return func(_ int, doc *format.Document) (set, error) {
				list := *m.files[object.Clean(doc.Source)]
				i, found := slices.BinarySearchFunc(list, int64(doc.Line), memberOf.compare)
				if !found {
					return set{number: -1}, nil
				}
				if min(int64(len(doc.Text)), math.MaxUint32) != list[i].bytes {
					return set{}, ingest.Changed(input.Place(doc.Source, doc.Line))
				}
				return set{list[i].number, shingler.Append(nil, doc.Text)}, nil
			}, nil
		},
		Emit: func(s set) error {
			if s.number < 0 {
				return nil
			}
			end += uint64(len(s.shingles))
			numbers, ends = append(numbers, uint64(s.number)), append(ends, end)
			_, err := w.Write(store.Bytes64(s.shingles))
			return err
		},
	})
	if err == nil && len(numbers) != m.mine {
		err = fmt.Errorf("%d of the %d documents that the table names in this share were not found: give the flags that "+
			"'ndd fingerprint' had", m.mine-len(numbers), m.mine)
	}
	if err != nil {
		return err
	}
	for _, s := range []struct {
		name string
		data []uint64
	}{{"members", numbers}, {"ends", ends}, {"table", []uint64{m.digest.Sum64(), m.n}}} {
		w.Section(s.name)
		w.Write(store.Bytes64(s.data))
	}
	return w.Commit()
}

// Sets returns a [dedup.Verify].Sets that takes the sets from the files of all shares.
func Sets(paths []string, threads int) func(context.Context, dedup.Documents, []dedup.Row, *shingle.Sets) error {
	return func(ctx context.Context, d dedup.Documents, rows []dedup.Row, s *shingle.Sets) error {
		return readSets(ctx, paths, threads, d, rows, s)
	}
}

// readSets reads the sets of some rows from files.
func readSets(ctx context.Context, paths []string, threads int, d dedup.Documents, members []dedup.Row,
	s *shingle.Sets) error {
	digest := xxhash.New()
	for m := range Of(d, members) {
		m.digest(digest)
	}
	var have rowset.Set
	left := len(members)
	for _, path := range paths {
		file, err := store.Open(path, store.KindShingles)
		if err != nil {
			return err
		}
		n, err := readSetFile(ctx, file, digest.Sum64(), len(members), &have, s, threads)
		if err = cmp.Or(err, file.Close()); err != nil {
			return err
		}
		left -= n
	}
	if left > 0 {
		for i, row := range members {
			if at := d.Place(row); !have.Has(i) {
				return fmt.Errorf("%w: the shingles of %d documents are missing, the first is %s: give the files of all shares",
					simhash.ErrMixed, left, input.Place(at.File, at.Row))
			}
		}
	}
	return nil
}

// readSetFile reads one file and returns how many sets it has.
func readSetFile(ctx context.Context, file *store.File, digest uint64, members int, have *rowset.Set, s *shingle.Sets,
	threads int) (n int, err error) {
	defer store.CatchFault(&err)()
	if err := file.Verify(ctx, threads, nil); err != nil {
		return 0, err
	}
	sections := file.Sections()
	names := []string{"shingles", "members", "ends", "table"}
	var data [4][]uint64
	if len(sections) != len(names) {
		return 0, file.Corrupt("%d sections, not those of a file of shingles", len(sections))
	}
	for i, x := range sections {
		if x.Name != names[i] || len(x.Data)%8 != 0 {
			return 0, x.Corrupt(0, "where %s are due", names[i])
		}
		data[i] = store.Uint64s(x.Data)
	}
	shingles, numbers, ends, table := data[0], data[1], data[2], data[3]
	if len(numbers) != len(ends) || len(table) != 2 {
		return 0, sections[1].Corrupt(0, "%d members and %d sets", len(numbers), len(ends))
	}
	if table[0] != digest || table[1] != uint64(members) {
		return 0, fmt.Errorf("%w: %s was made for a table of other members: -k, the fingerprint files or their order differ",
			simhash.ErrMixed, file.Path())
	}
	from := uint64(0)
	for i, number := range numbers {
		if number >= uint64(members) || ends[i] < from || ends[i] > uint64(len(shingles)) {
			return 0, sections[2].Corrupt(uint64(8*i), "a set of member %d to %d", number, ends[i])
		}
		if have.Has(int(number)) {
			return 0, fmt.Errorf("%w: %s has shingles that another file has", simhash.ErrMixed, file.Path())
		}
		have.Add(int(number))
		set := shingles[from:ends[i]]
		if !slices.IsSorted(set) {
			return 0, sections[0].Corrupt(8*from, "shingles out of order")
		}
		if err := s.Put(int(number), set); err != nil {
			return 0, err
		}
		from = ends[i]
	}
	return len(numbers), ctx.Err()
}
