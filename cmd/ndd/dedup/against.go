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
			if o.prints, err = d.g.OpenPrintFile(path); err != nil {
				return list, err
			}
			list = append(list, o)
			if s := o.prints.Store(); s != nil {
				if err := s.Verify(ctx, d.g.Threads, nil); err != nil {
					return list, err
				}
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
		f, err := d.g.OpenPrintFile(first)
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

// find looks fingerprints up in all that is old: of each that is near one there, the first document of
// the nearest, in the first where several are as near.
func (list olds) find(ctx context.Context, k, threads int, prints []uint64) (all []dedup.Drop, err error) {
	for _, o := range list {
		one, err := o.find(ctx, k, threads, prints)
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	slices.SortStableFunc(all, func(a, b dedup.Drop) int {
		return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Distance, b.Distance))
	})
	return slices.CompactFunc(all, func(a, b dedup.Drop) bool { return a.Row == b.Row }), nil
}

// bytes returns the most memory that find takes for a number of documents.
func (list olds) bytes(k, threads, documents int) (most uint64) {
	for _, o := range list {
		bytes := uint64(0)
		if o.index != nil {
			if p, err := o.index.PlanBatch(documents, o.batch(k, threads)); err == nil { // unless the command ends
				bytes = p.Bytes()
			}
		} else if p, err := scan.NewPlan(documents, k, false, o.scan(threads)); err == nil { // said by find
			bytes = p.Bytes()
		}
		most = max(most, bytes)
	}
	return most
}

func (o *old) batch(k, threads int) engine.BatchOptions {
	return engine.BatchOptions{K: k, Docs: 1, Threads: threads, MatchBytes: knownBytes}
}

func (o *old) scan(threads int) scan.Options {
	return scan.Options{Threads: threads, Fingerprints: o.prints.Len(), Budget: memory.NewBudget(memory.Set(knownBytes))}
}

func (o *old) find(ctx context.Context, k, threads int, prints []uint64) (list []dedup.Drop, err error) {
	add := func(row, distance int, id func() (string, error)) error {
		if last := len(list) - 1; last >= 0 && list[last].Row == dedup.Row(row) {
			return nil // more hits of the same query, which are not nearer
		}
		name, err := id()
		list = append(list, dedup.Drop{Row: dedup.Row(row), Kept: name, Distance: distance})
		return err
	}
	if o.index != nil {
		names := o.index.IDs()
		err = o.index.Batch(ctx, simhash.Fingerprints(prints), o.batch(k, threads), func(row int, hits []engine.Hit) error {
			return add(row, hits[0].Distance, func() (string, error) { return names.ID(hits[0].Docs[0]) })
		})
		return list, err
	}
	if len(prints) == 0 || o.prints.Len() == 0 {
		return nil, nil
	}
	options, names := o.scan(threads), o.prints.Lookup()
	plan, err := scan.NewPlan(len(prints), k, false, options)
	if err != nil {
		return nil, err
	}
	old := scan.Slice(o.prints.Fingerprints(), 0)
	for h, err := range scan.Answer(ctx, old, prints, k, plan, options) {
		if err == nil {
			err = add(int(h.Query), h.Distance, func() (string, error) { return names.ID(h.Row) })
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (d *deduping) againstNames() string { return strings.Join(d.against, ", ") }
