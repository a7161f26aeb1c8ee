package passages

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/minio/highwayhash"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/passages/plain"
	"example.org/ndd/engine/storage/store"
)

// prepared is a document on its way to the spool, with its marks.
type prepared struct {
	of      ingest.Record // names, length and hash
	chars   int
	text    string  // of strings: itself, or the hashes of its words
	points  []point // of atoms that are no bytes; of bytes the jumps, two for each, as [spool] describes
	atoms   int
	units   [][3]uint64 // hash, and the first atom, from 0
	strings []markRun
}

// prepare returns the names, length and hash of a document.
func prepare(doc *format.Document, chars int) prepared {
	return prepared{of: ingest.Record{ID: doc.ID, Source: doc.Source, Line: doc.Line, TextBytes: len(doc.Text),
		Hash: [2]uint64{xxhash.Sum64String(doc.Text)}}, chars: chars}
}

// A mark of strings is a hash, and a place.
type mark [2]uint64

var unitKey = []byte("ndd passages: units, HighwayHash")

// Find reads documents and finds their repeated passages. It does not use cfg.Recipe. Of units,
// cfg.Work keeps the hashes of files; of strings, which would need the texts, nothing. The result
// must be closed. The report is valid with an error, too.
func Find(ctx context.Context, inputs []string, cfg ingest.Config, o Options) (_ *Result, _ ingest.Report, err error) {
	if err := o.check(); err != nil {
		return nil, ingest.Report{}, err
	}
	r := &Result{o: o, inputs: inputs, reading: cfg.Document, spool: newSpool(&o)}
	r.reading.Meter = nil // it counts the first reading
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
	if r.all, err = r.repeats.Map(); err != nil {
		return nil, report, err
	}
	return r, report, nil
}

func (r *Result) findUnits(ctx context.Context, cfg ingest.Config) (ingest.Report, error) {
	marks := newSorter[[3]uint64](&r.o, "units", 1)
	defer marks.Close()
	list := marks.Writer()
	cfg.Job = fmt.Sprintf("%s, ignore %d, at least %d characters", r.o.Unit, r.o.Ignore, r.o.MinChars)
	report, err := ingest.Extract(ctx, r.inputs, cfg, ingest.Steps[prepared]{
		Worker: func(context.Context) (func(int, *format.Document) (prepared, error), error) {
			u := newUnitCutter(&r.o)
			return func(_ int, doc *format.Document) (prepared, error) {
				p := prepare(doc, int(u.cut(doc.Text)[1]))
				p.points, p.atoms, p.units = u.points, len(u.points), u.units
				return p, u.err
			}, nil
		},
		Borrows: true,
		Record:  prepared.record,
		Result:  keptUnits,
		Emit: func(p prepared) (err error) {
			r.marks += len(p.units)
			for _, m := range p.units {
				m[2] += r.spool.atoms
				if err = list.Add(m); err != nil {
					return err
				}
			}
			return r.spool.add(&p)
		},
	})
	if err == nil {
		err = r.spool.end()
	}
	if err != nil {
		return report, err
	}
	list.Close()
	r.repeats, err = groups(ctx, &r.o, marks, 2, "repeated units",
		func(context.Context) func([][3]uint64, func(repeat) error) error { return r.unitGroup })
	return report, err
}

// unitGroup emits the repeats of equal units, in order of their places.
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
	o      *Options
	plain  *plain.Reader
	normal []byte
	points []point
	units  [][3]uint64
	last   [][2]uint64 // hashes of the last atoms, as many as a window has
	chars  []int       // of these, normalised
	window []byte      // their bytes
	id     string      // of the document, for the error
	err    error
}

func newUnitCutter(o *Options) *unitCutter {
	return &unitCutter{o: o, plain: plain.NewReader(o.Ignore.Plain(false))}
}

// record returns the record kept of a document with units:
//
//	characters, atoms, of each its bytes and characters | units: of each its atom, and its hash in 16 bytes
//
// Numbers are varints; places count from the one before.
func (p prepared) record() ingest.Record {
	b := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(p.chars)), uint64(len(p.points)))
	before := point{}
	for _, at := range p.points {
		b = binary.AppendUvarint(binary.AppendUvarint(b, at[0]-before[0]), at[1]-before[1])
		before = at
	}
	b = binary.AppendUvarint(b, uint64(len(p.units)))
	atom := uint64(0)
	for _, m := range p.units {
		b = binary.AppendUvarint(b, m[2]-atom)
		b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, m[0]), m[1])
		atom = m[2]
	}
	p.of.Payload = b
	return p.of
}

// keptUnits is the inverse of record.
func keptUnits(of ingest.Record) prepared {
	b := store.Fields(of.Payload)
	of.Payload = nil
	p := prepared{of: of, chars: int(b.Uvarint())}
	at := point{}
	for range b.Uvarint() {
		at = point{at[0] + b.Uvarint(), at[1] + b.Uvarint()}
		p.points = append(p.points, at)
	}
	p.atoms = len(p.points)
	atom := uint64(0)
	for range b.Uvarint() {
		atom += b.Uvarint()
		p.units = append(p.units, [3]uint64{b.Word(), b.Word(), atom})
	}
	return p
}

// cut sets the points and the units to those of a text, and returns its end.
func (u *unitCutter) cut(text string) (at point) {
	u.last, u.chars, u.points, u.units, u.err = u.last[:0], u.chars[:0], nil, nil, nil // which the caller keeps
	least, rest, done := max(u.o.MinChars, 1), u.plain.Read(text), 0
	for rest != "" {
		if len(u.points) == cap(u.points) || len(u.units) == cap(u.units) {
			points, units := further(u.points, int(at[0]), len(text)), further(u.units, int(at[0]), len(text))
			if u.err = u.o.room("cutting "+u.id, len(text), (len(u.points)+points)*16+(len(u.units)+units)*24); u.err != nil {
				break
			}
			u.points, u.units = slices.Grow(u.points, points), slices.Grow(u.units, units)
		}
		atom := rest[:atomEnd(u.o.Unit.Kind, rest)]
		rest, done = rest[len(atom):], done+len(atom)
		u.points = append(u.points, at)
		end := uint64(len(text))
		if rest != "" {
			end = uint64(u.plain.Start(done))
		}
		at = point{end, at[1] + uint64(countChars(text[at[0]:end]))}
		u.normal = appendNormal(u.normal[:0], u.o.Ignore&ignoreChars, atom)
		chars := countChars(asString(u.normal))
		if u.o.Unit.Length > 1 {
			u.take(hash128(u.normal), chars, least)
		} else if chars >= least {
			u.add(hash128(u.normal))
		}
	}
	return at
}

// room returns an error if there is no memory for a text, which is there as it was read, too, and for its lists.
func (o *Options) room(what string, text, lists int) error {
	return o.Budget.Check(what, uint64(int64(2*text+lists)+o.MemoryBytes))
}

// further returns for how many more elements a list needs room. A full one gets room for the rest of a text by what
// some of its bytes took: doubled by append, lists of a large text would take three times their memory.
func further[T any](list []T, done, whole int) int {
	n := len(list)
	if n < cap(list) {
		return cap(list) - n
	}
	rest := float64(n) * (float64(whole)/float64(max(done, 1)) - 1)
	return max(int(1.02*rest), n/8, 8)
}

// add adds the window that ends with the last atom.
func (u *unitCutter) add(h [2]uint64) {
	u.units = append(u.units, [3]uint64{h[0], h[1], uint64(len(u.points) - u.o.Unit.Length)})
}

// take takes an atom into the window, and adds the window if it is full.
func (u *unitCutter) take(h [2]uint64, chars, least int) {
	length := u.o.Unit.Length
	if u.last, u.chars = append(u.last, h), append(u.chars, chars); len(u.last) > length {
		u.last = append(u.last[:0], u.last[1:]...)
		u.chars = append(u.chars[:0], u.chars[1:]...)
	}
	all := 0
	for _, n := range u.chars {
		all += n
	}
	if len(u.last) < length || all < least {
		return
	}
	u.window = u.window[:0]
	for _, h := range u.last {
		u.window = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(u.window, h[0]), h[1])
	}
	u.add(hash128(u.window))
}

// NewCutter returns a function that calls each with the hash of every unit of a text and its bytes in it. It
// is for callers who bring equal units together by themselves: their hashes are equal in all processes.
// The function belongs to one goroutine.
func NewCutter(o Options) (func(text string, each func(hash [2]uint64, at Cut)), error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Unit.isString() {
		return nil, fmt.Errorf("%s: strings are no units", o.Unit)
	}
	u := newUnitCutter(&o)
	return func(text string, each func([2]uint64, Cut)) {
		u.cut(text)
		for _, m := range u.units {
			at, end := int(m[2]), int(m[2])+o.Unit.Length
			c := Cut{int(u.points[at][0]), len(text)}
			if end < len(u.points) {
				c.To = int(u.points[end][0])
			}
			each([2]uint64{m[0], m[1]}, c)
		}
	}, nil
}

func hash128(b []byte) [2]uint64 {
	sum := highwayhash.Sum128(b, unitKey)
	return [2]uint64{binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:])}
}
