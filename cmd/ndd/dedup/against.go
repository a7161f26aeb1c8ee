package dedup

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ndd/cmd/ndd/cli"
	"ndd/engine"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live/rows"
	"ndd/engine/memory"
	"ndd/engine/near/dedup"
	"ndd/engine/near/scan"
	"ndd/engine/storage/object"
)

// old is an index or a fingerprint file of --against.
type old struct {
	path   string
	index  *engine.Index // or
	prints *ndf.File
	recipe *simhash.Recipe // nil for raw fingerprints
}

// olds are those of --against, in order.
type olds []old

func (list olds) Close() {
	for _, o := range list {
		if o.index != nil {
			o.index.Close()
		} else {
			o.prints.Close()
		}
	}
}

// openAgainst opens what --against names and refuses fingerprints of different recipes, and of another
// than the first of the inputs has. For documents there must be a recipe.
func (d *deduping) openAgainst(ctx context.Context) (list olds, err error) {
	defer func() {
		if err != nil {
			list.Close()
		}
	}()
	for i, path := range d.against {
		if slices.Contains(d.against[:i], path) {
			return list, cli.Usagef("--against %s is there twice", path)
		}
		o := old{path: path}
		if info, err := os.Stat(path); object.Is(path) && slices.Contains(ndf.Endings, filepath.Ext(path)) ||
			err == nil && !info.IsDir() {
			if o.prints, err = d.g.OpenFingerprints(path); err != nil {
				return list, err
			}
			list = append(list, o)
			if err := o.prints.Verify(ctx, d.g.Threads); err != nil {
				return list, err
			}
			if o.recipe = o.prints.Recipe(); o.recipe == nil && !d.prints {
				return list, fmt.Errorf("%s: %w: it has raw fingerprints, without a recipe for documents", path, simhash.ErrMixed)
			}
		} else {
			if o.index, err = engine.Open(ctx, path, engine.OpenOptions{Threads: d.g.Threads}); err != nil {
				return list, err
			}
			list = append(list, o)
			if o.recipe, err = o.index.DocumentRecipe(); err != nil && !d.prints {
				return list, fmt.Errorf("%s: %w", path, err)
			}
		}
		list[len(list)-1] = o
		if err := simhash.Compatible(list[0].path, list[0].recipe, path, o.recipe); err != nil {
			return list, err
		}
	}
	if first := d.inputs[0]; len(list) > 0 && d.prints && !document.ReadOnce(first) && !object.Is(first) {
		f, err := d.g.OpenFingerprints(first)
		if err != nil {
			return list, err
		}
		defer f.Close()
		return list, simhash.Compatible(list[0].path, list[0].recipe, first, f.Recipe())
	}
	return list, nil
}

// distance lowers -k to what all indexes were built for where it is not given, and otherwise refuses
// one that is larger.
func (d *deduping) distance(list olds) error {
	for _, o := range list {
		if o.index == nil {
			continue
		}
		if !d.changed("distance") && d.quality == "" {
			d.k = min(d.k, o.index.Design().K)
		}
		if err := o.index.CheckDistance(d.k); err != nil {
			return cli.Usagef("%s: %w", o.path, err)
		}
	}
	return nil
}

// knownBytes is for what --against finds; a batch's own default is for more queries than this
// command has in most cases.
const knownBytes = 256 << 20

// find looks fingerprints up in all that is old, and returns for each that is near one there the nearest
// document, or with all every one within k, nearest first. Of equally near ones, the first comes first.
func (list olds) find(ctx context.Context, k, threads int, all bool, prints []uint64) (drops []dedup.Drop, err error) {
	for _, o := range list {
		one, err := o.find(ctx, k, threads, all, prints)
		if err != nil {
			return nil, err
		}
		drops = append(drops, one...)
	}
	slices.SortStableFunc(drops, func(a, b dedup.Drop) int {
		return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Distance, b.Distance))
	})
	if all {
		return drops, nil
	}
	return slices.CompactFunc(drops, func(a, b dedup.Drop) bool { return a.Row == b.Row }), nil
}

// bytes returns the most memory that find takes for a number of documents.
func (list olds) bytes(k, threads, documents int) (most uint64) {
	for _, o := range list {
		bytes := uint64(0)
		if o.index != nil {
			if p, err := o.index.PlanBatch(documents, o.batch(k, threads, false)); err == nil { // unless the command ends
				bytes = p.Bytes()
			}
		} else if p, err := scan.NewPlan(documents, k, false, o.scan(threads)); err == nil { // said by find
			bytes = p.Bytes()
		}
		most = max(most, bytes)
	}
	return most
}

func (o *old) batch(k, threads int, all bool) engine.BatchOptions {
	docs := engine.FirstDoc
	if all {
		docs = engine.AllDocs
	}
	return engine.BatchOptions{K: k, Docs: docs, Threads: threads, MatchBytes: knownBytes}
}

func (o *old) scan(threads int) scan.Options {
	return scan.Options{Threads: threads, Fingerprints: o.prints.Len(), Budget: memory.NewBudget(memory.Set(knownBytes))}
}

// A match is a document of an old that is near a row.
type match struct {
	row, distance int
	number        uint64
}

func (a match) compare(b match) int {
	return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.distance, b.distance), cmp.Compare(a.number, b.number))
}

func (o *old) find(ctx context.Context, k, threads int, all bool, prints []uint64) (drops []dedup.Drop, err error) {
	var list []match
	add := func(m match) {
		switch last := len(list) - 1; {
		case all || last < 0 || list[last].row != m.row:
			list = append(list, m)
		case m.compare(list[last]) < 0:
			list[last] = m
		}
	}
	var nameOf func(number uint64) (string, error)
	if o.index != nil {
		names := o.index.IDs()
		nameOf = func(number uint64) (string, error) { return names.ID(rows.DocID(number)) }
		err = o.index.Batch(ctx, simhash.Fingerprints(prints), o.batch(k, threads, all), func(row int, hits []engine.Hit) error {
			for _, h := range hits {
				for _, doc := range h.Docs {
					add(match{row, h.Distance, uint64(doc)})
				}
			}
			return nil
		})
	} else if len(prints) > 0 && o.prints.Len() > 0 {
		names := o.prints.Lookup()
		nameOf = names.ID
		err = o.scanned(ctx, k, threads, prints, add)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, match.compare)
	for _, m := range list {
		name, err := nameOf(m.number)
		if err != nil {
			return nil, err
		}
		drops = append(drops, dedup.Drop{Row: dedup.Row(m.row), Kept: name, Distance: m.distance})
	}
	return drops, nil
}

// scanned calls add with what of a fingerprint file is near some fingerprints.
func (o *old) scanned(ctx context.Context, k, threads int, prints []uint64, add func(match)) error {
	options := o.scan(threads)
	plan, err := scan.NewPlan(len(prints), k, false, options)
	if err != nil {
		return err
	}
	for h, err := range scan.Answer(ctx, scan.Slice(o.prints.Fingerprints(), 0), prints, k, plan, options) {
		if err != nil {
			return err
		}
		add(match{int(h.Query), h.Distance, h.Row})
	}
	return nil
}

func (d *deduping) againstNames() string { return strings.Join(d.against, ", ") }
