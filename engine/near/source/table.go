// Package source assigns documents to sources. A source is an input (a file or a folder) or the value of a field. The
// source decides whether a document is preferred or protected. The package also counts the dropped and kept documents
// of each source.
package source

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

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/near/rowset"
	"example.org/ndd/engine/storage/object"
	"example.org/ndd/engine/storage/spill"
)

// Options say what the sources are and which rights they have.
type Options struct {
	Field   string   // field with the source of a document; if "", a source is an input, a file or a folder
	Prefer  []string // sources in their order of preference, before all others
	Protect []string // [path.Match] patterns of sources, files and folders whose documents are never dropped
	Limits  []Limit  // limits of dropped documents
}

// A Limit is the maximum share of dropped documents for a source, or for all documents if Source is "".
type Limit struct {
	Source string
	Share  float64
}

// An Error reports options that name an unknown source, or that contradict each other.
type Error string

func (e Error) Error() string { return string(e) }

func errorf(format string, args ...any) error { return Error(fmt.Sprintf(format, args...)) }

// A Table has the source of each row of a corpus. Sources are numbered in the order of their first rows.
type Table struct {
	Options
	IsUnknown bool                 // the inputs are unknown: a source is a file with documents or a folder of documents
	Rows      spill.Column[uint16] // source of each row, if a field names it

	names     []string
	number    map[string]int32
	documents []int // number of documents of each source
	protects  []bool
	runs      []run // runs of rows, if no field names the source

	protectedRows rowset.Set
	used          []bool // patterns that protect a source or a file

	file       string // file of the previous row, with its source and its protection
	fileSource int32
	fileSafe   bool
}

// A run is a range of consecutive rows of one source.
type run struct {
	first  int
	source int32
}

// namesMax is the maximum number of sources that a field names, because each row stores a number of 2 bytes.
const namesMax = math.MaxUint16

// NewTable returns a table without rows. It appends the numbers of sources to the column rows.
func NewTable(o Options, rows spill.Column[uint16]) Table {
	return Table{Options: o, Rows: rows, number: map[string]int32{}, used: make([]bool, len(o.Protect))}
}

// inputNames returns the names of inputs that are sources.
func inputNames(ctx context.Context, inputs []string) (names []string) {
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

// Begin prepares the table for the documents of some inputs, before they are read. It returns an error if an option
// names a source that is none of the inputs.
func (t *Table) Begin(ctx context.Context, inputs []string) error {
	if t.Field != "" {
		return nil // values name them
	}
	for _, name := range inputNames(ctx, inputs) {
		t.add(object.Clean(name))
	}
	if len(t.Protect) > 0 {
		for f, err := range input.Files(ctx, inputs) {
			if err == nil {
				t.protected(object.Clean(f.Path))
			}
		}
	}
	return t.check()
}

// check returns an error if an option names an unknown source, or if options contradict each other.
func (t *Table) check() error {
	for i, pattern := range t.Protect {
		if !t.used[i] {
			return errorf("protect %s: no source, file or folder has this name: %s", pattern, t.list())
		}
	}
	for _, name := range t.Prefer {
		if t.find(name) < 0 {
			return errorf("prefer %s: no source has this name: %s", name, t.list())
		}
	}
	for _, limit := range t.Limits {
		if limit.Source != "" && t.find(limit.Source) < 0 {
			return errorf("max-drop %s: no source has this name: %s", limit.Source, t.list())
		}
	}
	for i, before := range t.Prefer {
		for _, after := range t.Prefer[i+1:] {
			if t.protects[t.find(after)] && !t.protects[t.find(before)] {
				return errorf("prefer %s before %s contradicts that %s is protected, and so kept before all others",
					before, after, after)
			}
		}
	}
	return nil
}

// Order returns the order of rows by their sources: the order of Prefer or, if that is empty, of the inputs.
func (t *Table) Order() func(a, b int) int {
	var ranks []int
	for i, name := range t.names {
		if len(t.Prefer) > 0 {
			if i = slices.IndexFunc(t.Prefer, func(p string) bool { return t.key(p) == name }); i < 0 {
				i = len(t.Prefer)
			}
		}
		ranks = append(ranks, i)
	}
	return func(a, b int) int { return cmp.Compare(ranks[t.ofRow(a)], ranks[t.ofRow(b)]) }
}

// list lists the sources for a message.
func (t *Table) list() string {
	const limit = 20
	if n := len(t.names); n > limit {
		return fmt.Sprintf("the sources are %s and %d more", strings.Join(t.names[:limit], ", "), n-limit)
	}
	names := slices.DeleteFunc(slices.Clone(t.names), func(n string) bool { return n == "" })
	return "the sources are " + strings.Join(names, ", ")
}

// key returns the name by which a source is looked up.
func (t *Table) key(name string) string {
	if t.Field != "" {
		return name
	}
	return strings.TrimSuffix(object.Clean(name), "/")
}

// find returns the number of a source, or -1.
func (t *Table) find(name string) int32 {
	if i, ok := t.number[t.key(name)]; ok {
		return i
	}
	return -1
}

// add returns the number of a source. It adds the source if it is new.
func (t *Table) add(name string) int32 {
	i, ok := t.number[name]
	if !ok {
		i = int32(len(t.names))
		t.number[name] = i
		t.names, t.documents, t.protects = append(t.names, name), append(t.documents, 0), append(t.protects, t.matches(name))
	}
	return i
}

// matches reports whether a pattern protects a name.
func (t *Table) matches(name string) (ok bool) {
	for i, pattern := range t.Protect {
		if found, _ := path.Match(t.key(pattern), name); found || pattern == name {
			ok, t.used[i] = true, true
		}
	}
	return ok
}

// protected reports whether a file is protected: by its name, its path or a folder above it.
func (t *Table) protected(file string) bool {
	ok := t.matches(path.Base(filepath.ToSlash(file)))
	for folder := range ancestors(file) {
		ok = t.matches(filepath.ToSlash(folder)) || ok
	}
	return ok
}

// ancestors yields a path and the folders above it.
func ancestors(file string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for path := file; yield(path); {
			up := filepath.Dir(path)
			if object.Is(path) {
				up = path[:strings.LastIndexByte(path, '/')]
			}
			if up == path {
				return
			}
			path = up
		}
	}
}

// ofFile sets the fields that depend on the file of a document.
func (t *Table) ofFile(file string, isDocument bool) {
	if file == t.file && len(t.names) > 0 {
		return
	}
	key := object.Clean(file)
	t.file, t.fileSource, t.fileSafe = file, -1, len(t.Protect) > 0 && t.protected(key)
	if t.Field != "" {
		return
	}
	if t.IsUnknown {
		if isDocument {
			key = filepath.Dir(key)
		}
		t.fileSource = t.add(key)
		return
	}
	for up := range ancestors(key) {
		if t.fileSource = t.find(up); t.fileSource >= 0 {
			return
		}
	}
	t.fileSource = t.add(key)
}

// Append adds the next row: a document in a file, or a whole file as a document, with the value of the field.
func (t *Table) Append(row int, file string, isDocument bool, value string) error {
	t.ofFile(file, isDocument)
	n, safe := t.fileSource, t.fileSafe
	if t.Field != "" {
		n = t.add(value)
		if len(t.names) > namesMax {
			return errorf("source %s: more than %d values: choose a field whose values many documents share",
				t.Field, namesMax)
		}
	}
	t.documents[n]++
	switch {
	case t.Field != "":
		if err := t.Rows.Append(uint16(n)); err != nil {
			return err
		}
	case len(t.runs) == 0 || t.runs[len(t.runs)-1].source != n:
		t.runs = append(t.runs, run{row, n})
	}
	if safe || t.protects[n] {
		t.protectedRows.Add(row)
	}
	return nil
}

// Check returns an error if an option names an unknown source. It does so if the sources are known only after reading.
func (t *Table) Check() error {
	if t.Field != "" && len(t.names) == 1 && t.names[0] == "" {
		return t.NoValue()
	}
	if t.Field != "" || t.IsUnknown {
		return t.check()
	}
	return nil
}

// NoValue returns the error for a field that no document has.
func (o *Options) NoValue() error {
	return errorf("source %s: no document has this field with a number or text", o.Field)
}

// ofRow returns the number of the source of a row.
func (t *Table) ofRow(row int) int32 {
	if len(t.Rows.All) > 0 {
		return int32(t.Rows.All[row])
	}
	return t.runs[sort.Search(len(t.runs), func(i int) bool { return t.runs[i].first > row })-1].source
}

// Protects reports whether a row is never dropped.
func (t *Table) Protects(row int) bool { return t.protectedRows.Has(row) }

// Protected returns the rows that are never dropped.
func (t *Table) Protected() rowset.Set { return t.protectedRows }
