package dedup

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/near/dedup"
	"example.org/ndd/engine/near/scan"
	"example.org/ndd/engine/storage/object"
)

// A knownSource is an index or a fingerprint file of --against.
type knownSource struct {
	path   string
	index  *engine.Index // or
	file   *ndf.File
	recipe *simhash.Recipe // nil for raw fingerprints
}

// A knownSet is all sources of --against, in order, and how they are searched.
type knownSet struct {
	sources   []knownSource
	k         int // largest distance
	threads   int
	threshold cli.Threshold // 0 if sketches are not compared
}

// Close closes the sources.
func (set *knownSet) Close() {
	for _, s := range set.sources {
		if s.index != nil {
			s.index.Close()
		} else {
			s.file.Close()
		}
	}
}

// recipe returns the recipe of all sources; nil if there are none.
func (set *knownSet) recipe() *simhash.Recipe {
	if len(set.sources) == 0 {
		return nil
	}
	return set.sources[0].recipe
}

// openKnown opens the sources and makes the search look there first. The caller closes them, unless there is an error.
func (j *job) openKnown(ctx context.Context) (set *knownSet, err error) {
	set = &knownSet{threads: j.g.Threads, threshold: j.flags.threshold}
	defer func() {
		if err != nil {
			set.Close()
		}
	}()
	// Open the indexes and files, which must have compatible recipes.
	for i, path := range j.flags.against {
		if slices.Contains(j.flags.against[:i], path) {
			return set, cli.Usagef("--against %s is listed twice", path)
		}
		s, err := j.openSource(ctx, path)
		if s.index != nil || s.file != nil {
			set.sources = append(set.sources, s)
		}
		if err != nil {
			return set, err
		}
		if err := simhash.Compatible(set.sources[0].path, set.recipe(), path, s.recipe); err != nil {
			return set, err
		}
	}
	if len(set.sources) == 0 {
		return set, nil
	}
	// Check the recipe, set the distance, and make Find call the search.
	if err := j.checkFirst(set); err != nil {
		return set, err
	}
	if err := set.setDistance(j); err != nil {
		return set, err
	}
	j.finding.Known, j.finding.KnownBytes = set.find, set.bytes
	j.readOptions.Find = j.finding
	return set, nil
}

// openSource opens an index or a fingerprint file, which must have a recipe if the inputs are documents.
func (j *job) openSource(ctx context.Context, path string) (s knownSource, err error) {
	s.path = path
	info, noFile := os.Stat(path)
	if object.Is(path) && slices.Contains(ndf.Endings, filepath.Ext(path)) || noFile == nil && !info.IsDir() {
		if s.file, err = j.g.OpenFingerprints(path); err != nil {
			return s, err
		}
		if err := s.file.Verify(ctx, j.g.Threads); err != nil {
			return s, err
		}
		if s.recipe = s.file.Recipe(); s.recipe == nil && !j.fingerprints {
			err = fmt.Errorf("%s: %w: it has raw fingerprints, without a recipe for documents", path, simhash.ErrMixed)
		}
		return s, err
	}
	if s.index, err = engine.Open(ctx, path, engine.OpenOptions{Threads: j.g.Threads, Threshold: j.flags.threshold.Option()}); err != nil {
		return s, err
	}
	if s.recipe, err = s.index.DocumentRecipe(); err != nil && !j.fingerprints {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// checkFirst returns an error if the first of the inputs has fingerprints of another recipe, before all are read.
func (j *job) checkFirst(set *knownSet) error {
	first := j.inputs[0]
	if !j.fingerprints || input.ReadOnce(first) || object.Is(first) {
		return nil
	}
	f, err := j.g.OpenFingerprints(first)
	if err != nil {
		return err
	}
	defer f.Close()
	return simhash.Compatible(set.sources[0].path, set.recipe(), first, f.Recipe())
}

// setDistance sets the distance of the search: at most the one that all indexes were built for. If a larger one is
// given, it is wrong usage.
func (set *knownSet) setDistance(j *job) error {
	set.k = j.finding.K
	for _, s := range set.sources {
		if s.index == nil {
			continue
		}
		if !j.flags.changed("distance") {
			set.k = min(set.k, s.index.Design().K)
		}
		if err := s.index.CheckDistance(set.k); err != nil {
			return cli.Usagef("%s: %w", s.path, err)
		}
	}
	return nil
}

// hasSketches reports whether a source has sketches. One without documents has as many as are needed.
func (s *knownSource) hasSketches(needed bool) bool {
	switch {
	case s.index == nil && s.file.Len() == 0 || s.index != nil && s.index.Stats().Documents == 0:
		return needed
	case s.index != nil:
		return live.Unwrap(s.index).Config().Sketches
	}
	return s.file.HasSketches()
}

// check returns an error if only some of the sources and the inputs have sketches to be compared. Without them the
// distance is at most that of the search.
func (set *knownSet) check(inputs bool, first string, o *dedup.Options) error {
	for i := range set.sources {
		if s := &set.sources[i]; set.threshold > 0 && s.hasSketches(inputs) != inputs {
			sketched, unsketched := s.path, first
			if inputs {
				sketched, unsketched = first, s.path
			}
			return fmt.Errorf("%w: %s has sketches, and %s has none: "+sketchesHint, simhash.ErrMixed, sketched, unsketched)
		}
	}
	set.k = min(set.k, o.K)
	return nil
}

// matchBytes is the memory for the documents that a search finds. A batch's own default is for more queries than this
// command has in most cases.
const matchBytes = 256 << 20

// find looks fingerprints up in all sources. For each row that is near a document there, and like it if sketches are
// compared, it returns the nearest one, the first of several.
func (set *knownSet) find(ctx context.Context, fingerprints []uint64, sketches []sketch.Sketch) (drops []dedup.Drop, err error) {
	for i := range set.sources {
		found, err := set.findIn(ctx, &set.sources[i], fingerprints, sketches)
		if err != nil {
			return nil, err
		}
		drops = append(drops, found...)
	}
	slices.SortStableFunc(drops, func(a, b dedup.Drop) int {
		return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Distance, b.Distance))
	})
	return slices.CompactFunc(drops, func(a, b dedup.Drop) bool { return a.Row == b.Row }), nil
}

// bytes returns the maximum memory that find takes for a number of documents.
func (set *knownSet) bytes(documents int) (maximum uint64) {
	for i := range set.sources {
		s, bytes := &set.sources[i], uint64(0)
		if s.index != nil {
			if p, err := s.index.PlanBatch(documents, set.batch(nil)); err == nil { // find returns the error
				bytes = p.Bytes()
			}
		} else if p, err := scan.NewPlan(documents, set.k, set.scan(s.file)); err == nil { // likewise
			bytes = p.Bytes()
		}
		maximum = max(maximum, bytes)
	}
	return maximum
}

func (set *knownSet) batch(sketches []sketch.Sketch) engine.BatchOptions {
	return engine.BatchOptions{K: set.k, Sketches: sketches, Docs: engine.FirstDoc, Threads: set.threads, MatchBytes: matchBytes}
}

func (set *knownSet) scan(f *ndf.File) scan.Options {
	return scan.Options{Threads: set.threads, Fingerprints: f.Len(), Budget: memory.NewBudget(memory.Set(matchBytes))}
}

// A match is a document of a source that is near a row.
type match struct {
	row, distance int
	number        uint64
	similarity    float32 // estimated; 0 if sketches were not compared
}

func (a match) compare(b match) int {
	return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.distance, b.distance), cmp.Compare(a.number, b.number))
}

// findIn is find for one source.
func (set *knownSet) findIn(ctx context.Context, s *knownSource, fingerprints []uint64, sketches []sketch.Sketch) (
	drops []dedup.Drop, err error) {
	// Collect the best match of each row.
	var list []match
	add := func(m match) {
		switch last := len(list) - 1; {
		case last < 0 || list[last].row != m.row:
			list = append(list, m)
		case m.compare(list[last]) < 0:
			list[last] = m
		}
	}
	var nameOf func(number uint64) (string, error)
	if s.index != nil {
		names := s.index.IDs()
		nameOf = func(number uint64) (string, error) { return names.ID(engine.DocID(number)) }
		err = set.searchIndex(ctx, s.index, fingerprints, sketches, add)
	} else if len(fingerprints) > 0 && s.file.Len() > 0 {
		nameOf = func(number uint64) (string, error) { return strconv.FormatUint(number, 10), nil }
		if s.file.HasIDs() {
			nameOf = s.file.Lookup().ID
		}
		err = set.searchFile(ctx, s.file, fingerprints, sketches, add)
	}
	if err != nil {
		return nil, err
	}
	// Look up the IDs of the matches, in order of the rows.
	slices.SortFunc(list, match.compare)
	for _, m := range list {
		name, err := nameOf(m.number)
		if err == nil && sketches != nil && m.similarity == rows.Unverified {
			err = fmt.Errorf("%w: document %q in %s has no sketch: "+sketchesHint, simhash.ErrMixed, name, s.path)
		}
		if err != nil {
			return nil, err
		}
		drops = append(drops, dedup.Drop{Row: dedup.Row(m.row), Kept: name, Distance: m.distance,
			Likeness: dedup.Likeness{Jaccard: m.similarity}})
	}
	return drops, nil
}

// searchIndex calls add with the documents of an index that are near some fingerprints.
func (set *knownSet) searchIndex(ctx context.Context, x *engine.Index, fingerprints []uint64, sketches []sketch.Sketch,
	add func(match)) error {
	emit := func(row int, hits []engine.Hit) error {
		for _, h := range hits {
			for i, doc := range h.Docs {
				m := match{row: row, distance: h.Distance, number: uint64(doc)}
				if h.Similarities != nil {
					m.similarity = h.Similarities[i]
				}
				add(m)
			}
		}
		return nil
	}
	return x.Batch(ctx, simhash.Fingerprints(fingerprints), set.batch(sketches), emit)
}

// searchFile is searchIndex for a fingerprint file.
func (set *knownSet) searchFile(ctx context.Context, f *ndf.File, fingerprints []uint64, sketches []sketch.Sketch,
	add func(match)) error {
	o := set.scan(f)
	plan, err := scan.NewPlan(len(fingerprints), set.k, o)
	if err != nil {
		return err
	}
	verifier, known := rows.Verifier{Queries: sketches, Threshold: float64(set.threshold)}, slices.Concat(slices.Collect(f.Sketches)...)
	for h, err := range scan.Answer(ctx, scan.Chunk{Fingerprints: f.Fingerprints()}, fingerprints, set.k, plan, o) {
		if err != nil {
			return err
		}
		m := match{row: int(h.Query), distance: h.Distance, number: h.Row}
		if ok := true; verifier.Active() {
			if m.similarity, ok = verifier.Judge(m.row, &known[m.number]); !ok {
				continue
			}
		}
		add(m)
	}
	return nil
}
