package dedup

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"ndd/engine/corpus/format"
	"ndd/engine/corpus/input"
	"ndd/engine/storage/object"
	"ndd/engine/storage/spill"
)

// Sources says what the sources of documents are and which rights they have.
type Sources struct {
	Field   string     // of documents, names their source; "": a source is an input, a file or a folder
	Prefer  []string   // sources in the order of the policy [Source], before all others
	Protect []string   // patterns, as of [path.Match], of sources, files and folders of which no document is dropped
	Limits  []DropRate // the most that may be dropped
}

// A DropRate is the most of a source, or with "" of everything, that may be dropped.
type DropRate struct {
	Source string
	Most   float64 // of 1
}

// A SourceError says that sources are asked for that there are not, or that rights contradict each other.
type SourceError string

func (e SourceError) Error() string { return string(e) }

func sourceErrorf(format string, args ...any) error { return SourceError(fmt.Sprintf(format, args...)) }

// A SourceCount says what became of the documents of a source.
type SourceCount struct {
	Source    string // "" where documents have no field that names it
	Documents int    // read, those too short to be compared among them
	Dropped   int
	KeptFor   int // documents of other sources that were dropped for one of this
}

// Kept returns the number of documents that are kept.
func (s *SourceCount) Kept() int { return s.Documents - s.Dropped }

// sources are the sources of a corpus, by number in the order in which they come.
type sources struct {
	Sources
	names     []string
	number    map[string]int32
	documents []int // by source
	protects  []bool
	ranks     []int                // by source, for the policy
	at        int                  // of the value that names one among those of a document
	of        spill.Column[uint16] // by row, where a field names them
	runs      []run                // elsewhere
	safe      bitmap               // rows that are protected
	used      []bool               // patterns that protect something
	shares    bool                 // the inputs are unknown: a source is a file with documents or a folder of them

	file       string // of the document before, with what comes of it
	fileSource int32
	fileSafe   bool
}

// A run is rows of one source.
type run struct {
	first  Row
	source int32
}

// sourcesMost bounds the sources that a field names, which are 2 bytes for each document.
const sourcesMost = math.MaxUint16

func sourceNames(ctx context.Context, inputs []string) (names []string) {
	for _, in := range inputs {
		switch {
		case object.Is(in) && strings.ContainsAny(in, "*?["):
			for f, err := range input.Files(ctx, []string{in}) {
				if err == nil {
					names = append(names, f.Path)
				}
			}
		case object.Is(in):
			names = append(names, strings.TrimSuffix(in, "/"))
		default:
			matches, _ := input.Matches(in) // reading returns the error
			for _, name := range matches {
				names = append(names, filepath.Clean(name))
			}
		}
	}
	return names
}

// begin prepares for documents of some inputs, and refuses names of none of them before they are read.
func (s *sources) begin(ctx context.Context, inputs []string) error {
	if s.Field != "" {
		return nil // values name them
	}
	for _, name := range sourceNames(ctx, inputs) {
		s.add(object.Clean(name))
	}
	if len(s.Protect) > 0 {
		for f, err := range input.Files(ctx, inputs) {
			if err == nil {
				s.protected(object.Clean(f.Path))
			}
		}
	}
	return s.check()
}

// check refuses names of sources that there are not.
func (s *sources) check() error {
	for i, pattern := range s.Protect {
		if !s.used[i] {
			return sourceErrorf("protect %s: no source, file or folder has this name: %s", pattern, s.list())
		}
	}
	for _, name := range s.Prefer {
		if s.find(name) < 0 {
			return sourceErrorf("prefer %s: no source has this name: %s", name, s.list())
		}
	}
	for _, limit := range s.Limits {
		if limit.Source != "" && s.find(limit.Source) < 0 {
			return sourceErrorf("max-drop %s: no source has this name: %s", limit.Source, s.list())
		}
	}
	for i, before := range s.Prefer {
		for _, after := range s.Prefer[i+1:] {
			if s.protects[s.find(after)] && !s.protects[s.find(before)] {
				return sourceErrorf("prefer %s before %s contradicts that %s is protected, and so kept before all others",
					before, after, after)
			}
		}
	}
	return nil
}

func (s *sources) rank() {
	s.ranks = s.ranks[:0]
	for i, name := range s.names {
		if len(s.Prefer) > 0 {
			if i = slices.IndexFunc(s.Prefer, func(p string) bool { return s.key(p) == name }); i < 0 {
				i = len(s.Prefer)
			}
		}
		s.ranks = append(s.ranks, i)
	}
}

// list names the sources that there are.
func (s *sources) list() string {
	const most = 20
	if n := len(s.names); n > most {
		return fmt.Sprintf("the sources are %s and %d more", strings.Join(s.names[:most], ", "), n-most)
	}
	names := slices.DeleteFunc(slices.Clone(s.names), func(n string) bool { return n == "" })
	return "the sources are " + strings.Join(names, ", ")
}

// key returns the name of a source as it is looked up.
func (s *sources) key(name string) string {
	if s.Field != "" {
		return name
	}
	return strings.TrimSuffix(object.Clean(name), "/")
}

// find returns the number of a source, -1 if there is none.
func (s *sources) find(name string) int32 {
	if i, ok := s.number[s.key(name)]; ok {
		return i
	}
	return -1
}

// add returns the number of a source, which it adds if there is none.
func (s *sources) add(name string) int32 {
	i, ok := s.number[name]
	if !ok {
		i = int32(len(s.names))
		s.number[name] = i
		s.names, s.documents, s.protects = append(s.names, name), append(s.documents, 0), append(s.protects, s.matches(name))
	}
	return i
}

// matches reports whether a pattern protects a name.
func (s *sources) matches(name string) (ok bool) {
	for i, pattern := range s.Protect {
		if found, _ := path.Match(s.key(pattern), name); found || pattern == name {
			ok, s.used[i] = true, true
		}
	}
	return ok
}

// protected reports whether a file is protected: by its name, its path or a folder above it.
func (s *sources) protected(file string) bool {
	ok := s.matches(path.Base(filepath.ToSlash(file)))
	for at := range above(file) {
		ok = s.matches(filepath.ToSlash(at)) || ok
	}
	return ok
}

// above yields a path and the folders above it.
func above(file string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := file; yield(at); {
			up := filepath.Dir(at)
			if object.Is(at) {
				up = at[:strings.LastIndexByte(at, '/')]
			}
			if up == at {
				return
			}
			at = up
		}
	}
}

// ofFile sets the fields that follow from the file of a document.
func (s *sources) ofFile(at Place) {
	if at.File == s.file && len(s.names) > 0 {
		return
	}
	key := object.Clean(at.File)
	s.file, s.fileSource, s.fileSafe = at.File, -1, len(s.Protect) > 0 && s.protected(key)
	if s.Field != "" {
		return
	}
	if s.shares {
		if at.Row == 0 {
			key = filepath.Dir(key)
		}
		s.fileSource = s.add(key)
		return
	}
	for up := range above(key) {
		if s.fileSource = s.find(up); s.fileSource >= 0 {
			return
		}
	}
	s.fileSource = s.add(key)
}

// append adds a document.
func (s *sources) append(at Place, values []format.Value, row Row) error {
	s.ofFile(at)
	n, safe := s.fileSource, s.fileSafe
	if s.Field != "" {
		n = s.add(valueAt(values, s.at).Text)
		if len(s.names) > sourcesMost {
			return sourceErrorf("source %s: more than %d values: choose a field whose values many documents share",
				s.Field, sourcesMost)
		}
	}
	s.documents[n]++
	switch {
	case s.Field != "":
		if err := s.of.Append(uint16(n)); err != nil {
			return err
		}
	case len(s.runs) == 0 || s.runs[len(s.runs)-1].source != n:
		s.runs = append(s.runs, run{row, n})
	}
	if safe || s.protects[n] {
		s.safe.set(int(row))
	}
	return nil
}

// appendFile adds a fingerprint file, whose first row is given.
func (s *sources) appendFile(path string, first Row, n int) {
	s.ofFile(Place{File: path})
	s.documents[s.fileSource] += n
	s.runs = append(s.runs, run{first, s.fileSource})
	for row := int(first); row < int(first)+n && (s.fileSafe || s.protects[s.fileSource]); row++ {
		s.safe.set(row)
	}
}

// end checks names of sources that are known when all is read.
func (s *sources) end() error {
	if s.Field != "" && len(s.names) == 1 && s.names[0] == "" {
		return s.noValue()
	}
	if s.Field != "" || s.shares {
		return s.check()
	}
	return nil
}

// noValue is the error of a field that no document has.
func (s *Sources) noValue() error {
	return sourceErrorf("source %s: no document has this field with a number or text", s.Field)
}

func (s *sources) ofRow(row Row) int32 {
	if len(s.of.All) > 0 {
		return int32(s.of.All[row])
	}
	return s.runs[sort.Search(len(s.runs), func(i int) bool { return s.runs[i].first > row })-1].source
}

// prefer compares the sources of two rows.
func (s *sources) prefer(a, b int) int {
	return cmp.Compare(s.ranks[s.ofRow(Row(a))], s.ranks[s.ofRow(Row(b))])
}

// Sources returns what became of the documents of each source, in the order in which they come.
func (r *Result) Sources() []SourceCount {
	s := &r.corpus.sources
	list := make([]SourceCount, len(s.names))
	for i, name := range s.names {
		list[i] = SourceCount{Source: name, Documents: s.documents[i]}
	}
	for d := range r.drops {
		of := s.ofRow(d.Row)
		list[of].Dropped++
		if d.KeptRow < 0 {
			continue
		}
		if kept := s.ofRow(Row(d.KeptRow)); kept != of {
			list[kept].KeptFor++
		}
	}
	return list
}

// A Beyond is a rate that is exceeded, and by what.
type Beyond struct {
	DropRate
	SourceCount
}

// Beyond returns what exceeds the limits of the options.
func (r *Result) Beyond() (list []Beyond) {
	counts := r.Sources()
	var all SourceCount
	for _, c := range counts {
		all.Documents, all.Dropped = all.Documents+c.Documents, all.Dropped+c.Dropped
	}
	for _, limit := range r.corpus.sources.Limits {
		c := all
		if limit.Source != "" {
			c = counts[r.corpus.sources.find(limit.Source)]
		}
		const rounding = 1 + 1e-12 // 0.29 * 100 is less than 29
		if float64(c.Dropped) > limit.Most*float64(c.Documents)*rounding {
			list = append(list, Beyond{limit, c})
		}
	}
	return list
}
