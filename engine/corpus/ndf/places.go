package ndf

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/storage/idlist"
	"example.org/ndd/engine/storage/store"
)

// The file of a share has four more sections, which record how and where each document was read:
//
//	files       package idlist's blocks of the names of the share's files
//	files.ends  package idlist's ends
//	settings    package ingest's settings, JSON
//	places.2    number | of | digest, and for each file: order | bytes + 1 | content | runs | (gap | 2 × documents +
//	            unmarked)...
//
// places.2 consists of uvarints, except gap, which is a varint. content is the checksum of the file's units. A run is a
// sequence of documents in consecutive rows that either all have a fingerprint or all have none. gap is the number of
// rows that are left out before the run.

// A Share identifies which part of some inputs a fingerprint file contains.
type Share struct {
	Number, Count int    // number of the share, from 0; number of shares
	Digest        uint64 // the same for all shares of the same inputs

	Settings ingest.Settings
}

// group returns the value that all shares of the same inputs have.
func (s *Share) group() Share { return Share{Count: s.Count, Digest: s.Digest} }

// An Input is a file of a share.
type Input struct {
	File  string
	Order int   // index of the file among all inputs
	Bytes int64 // size of the file; -1 if it is unknown

	Content format.Checksum // checksum of its units; 0 if it is unknown
}

// A Place is the position at which a document was read.
type Place struct {
	File  string
	Order int   // index of the file among all inputs
	Row   int64 // row in the file, from 1; 0 if the file is the document
}

// places collects the places of documents for a [Writer].
type places struct {
	settings []byte
	files    *idlist.Writer
	fileData bytes.Buffer
	data     []byte  // encoded data of earlier files
	inputs   []Input // the current file and the later ones
	contents map[string]format.Checksum
	row      int64 // next row of the current file
	runs     []byte
	n        int    // number of runs
	count    uint64 // number of documents of the current run
	unmarked bool   // the documents of the current run have no fingerprint
}

// KeepPlaces makes the writer of an .ndf file record the files of a share, in order, and the place of each document. It
// must be called before the first document. Documents must be appended in the order of their files.
func (w *Writer) KeepPlaces(s Share, inputs []Input) {
	if w.array != nil {
		return
	}
	p := &places{inputs: inputs, contents: map[string]format.Checksum{}}
	p.settings, _ = json.Marshal(s.Settings) // it has strings and a number only
	p.files = idlist.NewWriter(&p.fileData)
	p.data = binary.AppendUvarint(p.data, uint64(s.Number))
	p.data = binary.AppendUvarint(p.data, uint64(s.Count))
	p.data = binary.AppendUvarint(p.data, s.Digest)
	w.places = p
}

// SetContent sets the checksum of a file of the share. It must be called before the next document is appended.
func (w *Writer) SetContent(file string, content format.Checksum) {
	if w.places != nil {
		w.places.contents[file] = content
	}
}

// append records the place of the next document.
func (p *places) append(place Place, unmarked bool) error {
	if p == nil {
		return nil
	}
	for len(p.inputs) > 0 && p.inputs[0].Order != place.Order {
		if err := p.endFile(); err != nil {
			return err
		}
	}
	if len(p.inputs) == 0 {
		return fmt.Errorf("%s: no file of the share, or not in order", place.File)
	}
	if gap := place.Row - p.row; gap != 0 || p.count == 0 || p.unmarked != unmarked {
		p.endRun()
		p.runs = binary.AppendVarint(p.runs, gap)
		p.unmarked = unmarked
		p.n++
	}
	p.count++
	p.row = place.Row + 1
	return nil
}

func (p *places) endRun() {
	if p.count == 0 {
		return
	}
	flag := uint64(0)
	if p.unmarked {
		flag = 1
	}
	p.runs = binary.AppendUvarint(p.runs, 2*p.count+flag)
	p.count = 0
}

// endFile ends the current file.
func (p *places) endFile() error {
	p.endRun()
	file := p.inputs[0]
	p.data = binary.AppendUvarint(p.data, uint64(file.Order))
	p.data = binary.AppendUvarint(p.data, uint64(file.Bytes+1))
	p.data = binary.AppendUvarint(p.data, uint64(p.contents[file.File]))
	p.data = binary.AppendUvarint(p.data, uint64(p.n))
	p.data = append(p.data, p.runs...)
	p.inputs, p.row, p.runs, p.n = p.inputs[1:], 0, p.runs[:0], 0
	return p.files.Append(file.File)
}

// write writes the sections.
func (p *places) write(file *store.Writer) error {
	for len(p.inputs) > 0 {
		if err := p.endFile(); err != nil {
			return err
		}
	}
	if err := writeIDs(file, "files", p.files, &p.fileData); err != nil {
		return err
	}
	store.WriteSection(file, settingsSection, p.settings)
	return store.WriteSection(file, placesSection, p.data)
}

// placeSections is the number of additional sections in a file with places. The other constants are the names of the
// last ones.
const (
	placeSections   = 4
	settingsSection = "settings"
	placesSection   = "places.2"
)

// A source describes the documents of a fingerprint file that were read from one input file.
type source struct {
	Input
	row, unmarked uint64 // its first documents in the fingerprint file, with and without a fingerprint
	runs          []byte
	n             uint64 // number of runs
}

// parsePlaces reads the sections of places.
func (f *File) parsePlaces(s []store.Section) error {
	// The first sections have the names of the input files and the settings of the reading.
	names, err := idlist.Open(s[0], s[1])
	if err != nil {
		return err
	}
	defer names.Close()
	var settings ingest.Settings
	if err := s[2].JSON(&settings); err != nil {
		return err
	}
	// The last section has the numbers. After the first one that is missing, next returns 0 and err is set.
	list := s[3]
	data := list.Data
	next := func() uint64 {
		v, n := binary.Uvarint(data)
		data = data[max(n, 0):]
		if n <= 0 {
			err = list.Corrupt(uint64(len(list.Data)-len(data)), "a number is missing")
			data = nil
		}
		return v
	}
	// It begins with the share.
	number, shares, digest := next(), next(), next()
	if err == nil && (number >= shares || shares > math.MaxInt32) {
		err = list.Corrupt(0, "share %d of %d", number, shares)
	}
	if err != nil {
		return err
	}
	f.share = &Share{int(number), int(shares), digest, settings}
	// The runs of each file follow. The number of documents in earlier files is the start of its own documents.
	var docs, unmarked uint64
	for name, e := range names.All() {
		if e != nil {
			return e
		}
		src := source{Input: Input{name, int(next()), int64(next()) - 1, format.Checksum(next())}, row: docs, unmarked: unmarked, n: next()}
		src.runs = data
		for range src.n {
			if next(); err != nil { // the gap; a varint is as long as a uvarint
				return err
			}
			v := next()
			if v%2 == 1 {
				unmarked += v / 2
			} else {
				docs += v / 2
			}
			if documents := f.docs + f.unmarkedIDs.Len(); docs > documents || unmarked > documents {
				return list.Corrupt(0, "places of more than %d documents", documents)
			}
		}
		f.sources = append(f.sources, src)
	}
	// The runs must cover all documents of the fingerprint file.
	if err == nil && (docs != f.docs || unmarked != f.unmarkedIDs.Len()) {
		err = list.Corrupt(0, "places of %d and %d documents, which are %d and %d", docs, unmarked, f.docs, f.unmarkedIDs.Len())
	}
	return err
}

// IsShare reports whether the file has the documents of a share of some inputs, with their places.
func (f *File) IsShare() bool { return f.share != nil }

// A Part is the set of documents of a fingerprint file that were read from one input file. For a fingerprint file
// without places it is the set of all documents.
type Part struct {
	file   *File
	ids    *Lookup // shared by the parts of a file, which are read one after the other
	source *source
}

// Parts returns the parts of fingerprint files in the order of the inputs. The first share of a group is replaced by
// the parts of all shares of the same inputs. If a share is missing or occurs twice, the error wraps
// [simhash.ErrMixed], and likewise if shares were read with different settings.
func Parts(files []*File) (parts []Part, err error) {
	// Collect the shares of the same inputs.
	groups := map[Share][]*File{}
	for _, f := range files {
		if f.share != nil {
			groups[f.share.group()] = append(groups[f.share.group()], f)
		}
	}
	for _, f := range files {
		// A file without places is one part with two runs. The order of the documents without a fingerprint is unknown.
		if f.share == nil {
			runs := binary.AppendUvarint(binary.AppendVarint(nil, 1), 2*f.docs)
			runs = binary.AppendUvarint(binary.AppendVarint(runs, 0), 2*f.unmarkedCount()+1)
			parts = append(parts, Part{f, f.Lookup(), &source{Input: Input{File: f.path}, runs: runs, n: 2}})
			continue
		}
		group := f.share.group()
		if groups[group] == nil {
			continue // these parts came with the first share
		}
		// The shares of a group must be complete.
		var paths []string
		var shares []Share
		for _, g := range groups[group] {
			paths, shares = append(paths, g.path), append(shares, *g.share)
		}
		if err := CheckShares(paths, shares); err != nil {
			return nil, err
		}
		// Sort the parts of all shares by the order of the inputs.
		from := len(parts)
		for _, g := range groups[group] {
			ids := g.Lookup()
			for i := range g.sources {
				parts = append(parts, Part{g, ids, &g.sources[i]})
			}
		}
		groups[group] = nil
		slices.SortStableFunc(parts[from:], func(a, b Part) int { return cmp.Compare(a.source.Order, b.source.Order) })
	}
	return parts, nil
}

// Input returns the input file of the part, and false for a fingerprint file without places.
func (p Part) Input() (Input, bool) {
	return p.source.Input, p.file.share != nil
}

// CheckShares returns an error that wraps [simhash.ErrMixed] if a share of the inputs is missing or occurs twice, or if
// two shares have different settings. paths has the path of each share's file.
func CheckShares(paths []string, shares []Share) error {
	of := shares[0].Count
	have := map[int]string{}
	for i, s := range shares {
		if other, twice := have[s.Number]; twice {
			return simhash.Mixed("%s and %s are both share %d/%d", other, paths[i], s.Number, of)
		}
		have[s.Number] = paths[i]
		if err := shares[0].Settings.Check(paths[0], paths[i], s.Settings); err != nil {
			return err
		}
	}
	for i := range of {
		if have[i] == "" {
			return simhash.Mixed("%s is share %d/%d, and share %d/%d of the same files is missing: give all %d", paths[0],
				shares[0].Number, of, i, of, of)
		}
	}
	return nil
}

// A Placed is a document of a [Part].
type Placed struct {
	Document
	OK bool // the document has a fingerprint
}

// Documents yields the documents of the part in order. If the file has places, documents without a fingerprint are
// yielded in their order, too.
func (p Part) Documents(yield func(Placed, error) bool) {
	// Find the first document of the part, in the chunks and in the runs.
	f, row, runs := p.file, p.source.row, p.source.runs
	chunk, index := 0, row // position of the next document with a fingerprint
	for ; chunk < len(f.chunks) && index >= uint64(len(f.chunks[chunk].fingerprints)); chunk++ {
		index -= uint64(len(f.chunks[chunk].fingerprints))
	}
	// next yields the next document with a fingerprint.
	next := func(place Place) bool {
		for index == uint64(len(f.chunks[chunk].fingerprints)) {
			chunk, index = chunk+1, 0
		}
		c := &f.chunks[chunk]
		d := Document{Fingerprint: simhash.Fingerprint(c.fingerprints[index]), Place: place}
		if c.lengths != nil {
			d.TextBytes = int(c.lengths[index])
			if c.sketches != nil {
				d.Sketch = c.sketches[index]
			}
			if c.hashes != nil {
				d.Hash = c.hashes[index]
			}
		}
		var err error
		d.ID, err = p.ids.ID(row)
		index, row = index+1, row+1
		return yield(Placed{d, true}, err) && err == nil
	}
	// The runs show which documents come next, and their rows.
	place, unmarked := Place{File: p.source.File, Order: p.source.Order}, p.source.unmarked
	unmarkedID := func(i uint64) (string, error) { return f.unmarked[i], nil }
	if f.unmarkedIDs != nil {
		unmarkedID = f.unmarkedIDs.Cursor().ID
	}
	for range p.source.n {
		gap, n := binary.Varint(runs)
		v, m := binary.Uvarint(runs[n:])
		runs = runs[n+m:]
		place.Row += gap
		for range v / 2 {
			if v%2 == 1 {
				id, err := unmarkedID(unmarked)
				unmarked++
				if !yield(f.unmarkedAt(unmarked-1, id, place), err) || err != nil {
					return
				}
			} else if !next(place) {
				return
			}
			place.Row++
		}
	}
}

// unmarkedCount returns the number of documents without a fingerprint.
func (f *File) unmarkedCount() uint64 {
	if f.unmarkedIDs != nil {
		return f.unmarkedIDs.Len()
	}
	return uint64(len(f.unmarked))
}

// unmarkedAt returns the i-th document without a fingerprint.
func (f *File) unmarkedAt(i uint64, id string, place Place) Placed {
	d := Document{ID: id, Place: place}
	if f.unmarkedHashes != nil {
		d.Hash = f.unmarkedHashes[i]
	}
	return Placed{d, false}
}
