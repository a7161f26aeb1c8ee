package passages

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/cespare/xxhash/v2"
	"github.com/minio/highwayhash"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/passages/plain"
	"example.org/ndd/engine/storage/spill"
	"example.org/ndd/engine/storage/store"
)

// A pendingDocument holds a document until it is added to the spool, with its marks.
type pendingDocument struct {
	record  ingest.Record // names, length and hash
	chars   int
	text    string  // for words their hashes; empty for units
	points  []point // beginnings of the atoms, unless they are bytes
	atoms   int
	units   [][3]uint64 // hash in two words, and number of the first atom in the document
	strings []markRun
}

// prepare returns the names, length and hash of a document.
func prepare(doc *format.Document, chars int) pendingDocument {
	return pendingDocument{record: ingest.Record{ID: doc.ID, Source: doc.Source, Line: doc.Line, TextBytes: len(doc.Text),
		Hash: [2]uint64{xxhash.Sum64String(doc.Text)}}, chars: chars}
}

// A mark of strings is a hash and a place; see [markPlace].
type mark [2]uint64

var unitKey = []byte("ndd passages: units, HighwayHash")

// Find reads documents and finds their repeated passages. It does not use cfg.Recipe. For units, cfg.Work
// stores the hashes of each file. For strings it stores nothing, because the search needs the texts. The caller
// must close the result. The report is valid even if there is an error.
func Find(ctx context.Context, inputs []string, cfg ingest.Config, o Options) (_ *Result, _ ingest.Report, err error) {
	if err := o.check(); err != nil {
		return nil, ingest.Report{}, err
	}
	r := &Result{o: o, inputs: inputs, readOptions: cfg.Document, spool: newSpool(&o)}
	r.readOptions.Meter = nil // it counted the first time that the inputs were read
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	cfg.Recipe = simhash.Recipe{}
	var report ingest.Report
	if o.Unit.isString() {
		report, err = r.findStrings(ctx, cfg)
	} else {
		report, err = r.findUnits(ctx, cfg)
	}
	if err != nil {
		return nil, report, err
	}
	r.fileUnits = report.FileUnits
	if r.repeatList, err = r.repeats.Map(); err != nil {
		return nil, report, err
	}
	return r, report, nil
}

// KeepUnits reads the units of documents only for cfg.Work, so that a later Find compares them. It checks the options.
func KeepUnits(ctx context.Context, inputs []string, cfg ingest.Config, o Options) (ingest.Report, error) {
	if err := o.check(); err != nil {
		return ingest.Report{}, err
	}
	cfg.Job, cfg.Recipe = o.job(), simhash.Recipe{}
	return ingest.Extract(ctx, inputs, cfg, unitSteps(&o))
}

// job returns the settings on which the units depend.
func (o *Options) job() string {
	return fmt.Sprintf("--unit %s --ignore %s --min-chars %d", o.Unit, o.Ignore, o.MinChars)
}

// unitSteps returns the steps that cut documents into units.
func unitSteps(o *Options) ingest.Steps[pendingDocument] {
	return ingest.Steps[pendingDocument]{
		Worker: func(context.Context) (func(int, *format.Document) (pendingDocument, error), error) {
			u := newUnitCutter(o)
			return func(_ int, doc *format.Document) (pendingDocument, error) {
				u.id = doc.ID
				p := prepare(doc, int(u.cut(doc.Text)[1]))
				p.points, p.atoms, p.units = u.points, len(u.points), u.units
				return p, u.err
			}, nil
		},
		Borrows: true,
		Record:  pendingDocument.encode,
		Result:  documentOf,
	}
}

func (r *Result) findUnits(ctx context.Context, cfg ingest.Config) (ingest.Report, error) {
	cfg.Job = r.o.job()
	return findMarks(ctx, r, cfg, unitSteps(&r.o), "units", 2, func(p *pendingDocument, add func([3]uint64) error) error {
		r.marks += len(p.units)
		for _, m := range p.units {
			m[2] += r.spool.atoms
			if err := add(m); err != nil {
				return err
			}
		}
		return nil
	}, func(context.Context) func([][3]uint64, func(repeat) error) error { return r.unitGroup })
}

// findMarks reads the documents into the spool, and their marks into a sorter. Then it finds the repeats of the marks
// that share their first words. Function marks adds the marks of a document, and work is that of [groups].
func findMarks[R spill.Record](ctx context.Context, r *Result, cfg ingest.Config, steps ingest.Steps[pendingDocument], task string,
	shared int, marks func(p *pendingDocument, add func(R) error) error,
	work func(context.Context) func(group []R, emit func(repeat) error) error) (ingest.Report, error) {
	sorter := newSorter[R](&r.o, task, 1)
	defer sorter.Close()
	list := sorter.Writer()
	steps.Emit = func(p pendingDocument) error { return cmp.Or(marks(&p, list.Add), r.spool.add(&p)) }
	report, err := ingest.Extract(ctx, r.inputs, cfg, steps)
	if err = cmp.Or(err, r.spool.end()); err != nil {
		return report, err
	}
	list.Close()
	r.repeats, err = groups(ctx, &r.o, sorter, shared, "repeated "+task, work)
	return report, err
}

// unitGroup emits the repeats of a group of equal units, in the order of their places.
func (r *Result) unitGroup(group [][3]uint64, emit func(repeat) error) error {
	first, last := group[0][2], group[len(group)-1][2]
	if len(group) < r.o.MinCount || r.o.AcrossOnly && r.spool.row(first) == r.spool.row(last) {
		return nil
	}
	for _, m := range group {
		if err := emit(newRepeat(m[2], first, 1, uint64(len(group)))); err != nil {
			return err
		}
	}
	return nil
}

// A unitCutter cuts documents into units. It belongs to one goroutine.
type unitCutter struct {
	o            *Options
	plain        *plain.Reader
	normal       []byte
	points       []point
	units        [][3]uint64
	windowHashes [][2]uint64 // hashes of the last atoms, at most one window
	windowChars  []int       // number of characters of these atoms, normalised
	window       []byte      // hashes of the window's atoms, as bytes
	err          error

	id        string // ID of the document, for the error
	textBytes int
}

func newUnitCutter(o *Options) *unitCutter {
	u := &unitCutter{o: o}
	u.plain = plain.NewReader(o.plain(), u.room)
	return u
}

// room returns an error if the budget has no memory for the document and its lists.
func (u *unitCutter) room(listBytes int) error { return u.o.room(u.id, u.textBytes, listBytes) }

// encode returns the record to store for a document with units:
//
//	characters, number of atoms, bytes and characters of each | number of units, atom and 16-byte hash of each
//
// Numbers are varints. Positions are stored as the difference to the one before.
func (p pendingDocument) encode() ingest.Record {
	b := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(p.chars)), uint64(len(p.points)))
	before := point{}
	for _, start := range p.points {
		b = binary.AppendUvarint(binary.AppendUvarint(b, start[0]-before[0]), start[1]-before[1])
		before = start
	}
	b = binary.AppendUvarint(b, uint64(len(p.units)))
	atom := uint64(0)
	for _, m := range p.units {
		b = binary.AppendUvarint(b, m[2]-atom)
		b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, m[0]), m[1])
		atom = m[2]
	}
	p.record.Payload = b
	return p.record
}

// documentOf is the inverse of encode.
func documentOf(record ingest.Record) pendingDocument {
	b := store.Fields(record.Payload)
	record.Payload = nil
	p := pendingDocument{record: record, chars: int(b.Uvarint())}
	position := point{}
	for range b.Uvarint() {
		position = point{position[0] + b.Uvarint(), position[1] + b.Uvarint()}
		p.points = append(p.points, position)
	}
	p.atoms = len(p.points)
	atom := uint64(0)
	for range b.Uvarint() {
		atom += b.Uvarint()
		p.units = append(p.units, [3]uint64{b.Word(), b.Word(), atom})
	}
	return p
}

// cut sets points and units to the atoms and the units of a text. It returns the end of the text.
func (u *unitCutter) cut(text string) (position point) {
	u.windowHashes, u.windowChars, u.points, u.units, u.textBytes = u.windowHashes[:0], u.windowChars[:0], nil, nil, len(text) // the caller keeps the lists
	var line string
	line, u.err = u.plain.Read(text)
	minChars, done := max(u.o.MinChars, 1), 0
	for line != "" && u.err == nil {
		if len(u.points) == cap(u.points) || len(u.units) == cap(u.units) {
			points, units := elementsToAdd(u.points, int(position[0]), len(text)), elementsToAdd(u.units, int(position[0]), len(text))
			if u.err = u.room((len(u.points)+points)*16 + (len(u.units)+units)*24 + u.plain.JumpBytes()); u.err != nil {
				break
			}
			u.points, u.units = slices.Grow(u.points, points), slices.Grow(u.units, units)
		}
		atom := line[:atomEnd(u.o.Unit.Kind, line)]
		line, done = line[len(atom):], done+len(atom)
		u.points = append(u.points, position)
		end := uint64(len(text))
		if line != "" {
			end = uint64(u.plain.Start(done))
		}
		position = point{end, position[1] + uint64(countChars(text[position[0]:end]))}
		var form string
		form, u.normal = normal(u.normal, u.o.Ignore&ignoreChars, atom)
		if u.o.Unit.Length > 1 {
			u.take(hash128(form), countChars(form), minChars)
		} else if countChars(form) >= minChars {
			u.add(hash128(form))
		}
	}
	return position
}

// room returns an error if the budget has no memory for the text of a document and its lists. The text counts twice,
// because its plain form is also in memory.
func (o *Options) room(id string, textBytes, listBytes int) error {
	return o.Budget.Check("cutting "+id, uint64(int64(2*textBytes+listBytes)+o.MemoryBytes))
}

// elementsToAdd returns the number of additional elements to allocate for a list. If the list is full, it estimates the
// number for the rest of the text from the elements of its first offset bytes. Otherwise append would double the lists
// of a large text, which would need three times their memory.
func elementsToAdd[T any](list []T, offset, textBytes int) int {
	n := len(list)
	if n < cap(list) {
		return cap(list) - n
	}
	expected := float64(n) * (float64(textBytes)/float64(max(offset, 1)) - 1)
	return max(int(1.02*expected), n/8, 8)
}

// add adds the window that ends with the last atom, with its hash.
func (u *unitCutter) add(h [2]uint64) {
	u.units = append(u.units, [3]uint64{h[0], h[1], uint64(len(u.points) - u.o.Unit.Length)})
}

// take moves the window forward by one atom, and adds the window if it has enough atoms and characters.
func (u *unitCutter) take(h [2]uint64, chars, minChars int) {
	length := u.o.Unit.Length
	if u.windowHashes, u.windowChars = append(u.windowHashes, h), append(u.windowChars, chars); len(u.windowHashes) > length {
		u.windowHashes = append(u.windowHashes[:0], u.windowHashes[1:]...)
		u.windowChars = append(u.windowChars[:0], u.windowChars[1:]...)
	}
	all := 0
	for _, n := range u.windowChars {
		all += n
	}
	if len(u.windowHashes) < length || all < minChars {
		return
	}
	u.window = u.window[:0]
	for _, h := range u.windowHashes {
		u.window = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(u.window, h[0]), h[1])
	}
	u.add(hash128(asString(u.window)))
}

func hash128(s string) [2]uint64 {
	sum := highwayhash.Sum128(unsafe.Slice(unsafe.StringData(s), len(s)), unitKey)
	return [2]uint64{binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:])}
}
