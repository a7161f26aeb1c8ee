package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/storage/store"
)

// A Trial is the best option of a layout, built from a sample of the data and
// searched for queries like the data.
type Trial struct {
	Design string       `json:"design"`
	Layout table.Layout `json:"layout"`

	// What it took on the sample: bytes of all tables for each of the sample's
	// distinct fingerprints, and time of a query.
	SampleBytes    float64 `json:"sample_bytes_each"`
	SampleOnlineNS float64 `json:"sample_online_ns"`
	SampleBatchNS  float64 `json:"sample_batch_ns"`

	// What it is expected to take of all fingerprints: the model's word for
	// them, corrected by how the model did on the sample.
	Bytes    float64 `json:"bytes_each"`
	OnlineNS float64 `json:"online_ns"`
	BatchNS  float64 `json:"batch_ns"`
}

// trialQueriesMost queries are held out of a sample.
const trialQueriesMost = 512

// RunTrials makes small tables of a sample of the data, in the best option of each
// layout that fits, measures their bytes and the time of queries that are
// fingerprints of the sample left out of them, and corrects the prediction of
// every option by how far it was off for its layout. Then it chooses again. The
// sample is in any order. It takes the memory and the time of building those
// tables, a second for 1 M fingerprints, and a few seconds more where queries have
// many answers; ctx ends it. Where one layout only is asked for or fits, there
// is nothing to find out.
func (p *Plan) RunTrials(ctx context.Context, prints []uint64, threads int) error {
	best := p.finalists()
	if len(best) < 2 || len(prints) == 0 {
		return nil
	}
	var base, queries []uint64
	step := max(64, len(prints)/trialQueriesMost)
	for i, f := range prints {
		if i%step == step-1 {
			queries = append(queries, f)
		} else {
			base = append(base, f)
		}
	}
	if len(queries) == 0 {
		queries = base
	}
	t := timerFor(ctx, uint64(len(prints))*64)
	for _, o := range best {
		trial := Trial{Design: o.Name, Layout: o.Layout}
		n, err := trial.measure(ctx, o, p.Request.K, base, queries, t, threads)
		if err != nil {
			return fmt.Errorf("measuring the %s layout on a sample: %w", o.Layout, err)
		}
		if n == 0 {
			return nil
		}
		p.correct(&trial, o, n)
		p.Trials = append(p.Trials, trial)
	}
	p.TrialSample = len(base)
	p.Why = nil
	slices.SortStableFunc(p.Options, func(a, b Option) int { return cmp.Compare(a.Bytes, b.Bytes) })
	p.mark()
	if err := p.choose(); err != nil {
		return err
	}
	p.explain()
	return nil
}

// finalists returns the option of each layout that would be chosen if there were no
// other layout.
func (p *Plan) finalists() (best []Option) {
	for _, md := range models {
		of := Plan{Request: p.Request}
		for _, o := range p.Options {
			if o.Layout == md.layout() {
				of.Options = append(of.Options, o)
			}
		}
		if len(of.Options) > 0 && of.choose() == nil {
			best = append(best, of.Choice)
		}
	}
	return best
}

// measure builds the option of base and searches it; n is how many fingerprints
// were distinct.
func (r *Trial) measure(ctx context.Context, o Option, k int, base, queries []uint64, t timer, threads int) (n uint64, err error) {
	var arena store.Arena
	defer arena.Free()
	options := segment.Options{Design: o.Design, Table: table.Options{Layout: o.Layout}, Threads: threads}
	if err := segment.Write(ctx, &arena, segment.Input{Fingerprints: base}, options); err != nil {
		return 0, err
	}
	source, err := arena.Source()
	if err != nil {
		return 0, err
	}
	s, err := segment.Open(source)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if n = s.Fingerprints(); n == 0 {
		return 0, nil
	}
	bytes := uint64(0)
	for _, t := range s.Tables() {
		bytes += table.Bytes(t)
	}
	r.SampleBytes = float64(bytes) / float64(n)

	var scratch segment.Scratch
	var matches []segment.Match
	search := func(together int) float64 {
		lists, turn := slices.Collect(slices.Chunk(queries, max(1, min(together, len(queries))))), 0
		return t.time(3, func() { turn++ }, func() {
			// As many queries each time, however they are divided.
			for i := 0; i < trialQueries; i += together {
				var e error
				matches, e = s.Search(matches[:0], lists[(turn*trialQueries/together+i/together)%len(lists)], k, &scratch)
				err = errors.Join(err, e)
			}
		}) / trialQueries
	}
	r.SampleOnlineNS = search(1)
	// Of queries with very many answers, fewer are searched at once.
	r.SampleBatchNS = search(min(trialQueries, len(queries), max(1, trialMatches/max(1, len(matches)))))
	if err == nil {
		err = ctx.Err()
	}
	return n, err
}

// trialQueries queries are timed at a time.
const trialQueries = 64

// trialMatches is how many answers a batch of a trial may have, about: 24 MiB of them.
const trialMatches = 1 << 20

// correct scales the options of a trial's layout by what the model said of o
// for n fingerprints and what the trial took.
func (p *Plan) correct(r *Trial, o Option, n uint64) {
	small := Plan{Request: p.Request}
	small.Request.Fingerprints = n
	said := small.option(&o.Design, modelOf(o.Layout))
	if said.TableBytes == 0 {
		return
	}
	bytes := r.SampleBytes * float64(n) / float64(said.TableBytes)
	online := r.SampleOnlineNS / max(said.OnlineNS, 1)
	batch := r.SampleBatchNS / max(said.BatchNS, 1)
	for i := range p.Options {
		c := &p.Options[i]
		if c.Layout != o.Layout {
			continue
		}
		c.TableBytes = uint64(bytes * float64(c.TableBytes))
		c.Bytes = c.TableBytes + c.IDBytes
		c.OnlineNS *= online
		c.BatchNS *= batch
		c.Fits = p.Request.Memory == 0 || c.Bytes <= p.Request.Memory
		if c.Name == o.Name {
			r.Bytes = float64(c.TableBytes) / float64(max(p.Request.Fingerprints, 1))
			r.OnlineNS, r.BatchNS = c.OnlineNS, c.BatchNS
		}
	}
}

// explainTrials says how the layouts did on the sample, the chosen one first.
func (p *Plan) explainTrials() string {
	of := func(r *Trial) string {
		was, will := r.SampleOnlineNS, r.OnlineNS
		if p.Request.Purpose == Batch {
			was, will = r.SampleBatchNS, r.BatchNS
		}
		return fmt.Sprintf("%s (%s) %s a query and %.1f bytes per fingerprint, estimated for all data: %s and %.1f bytes",
			r.Layout, r.Design, duration(was), r.SampleBytes, duration(will), r.Bytes)
	}
	i := slices.IndexFunc(p.Trials, func(r Trial) bool { return r.Layout == p.Choice.Layout })
	return fmt.Sprintf("Measured on a sample of %s: %s; %s.", count(float64(p.TrialSample), "fingerprint"), of(&p.Trials[i]), of(&p.Trials[1-i]))
}
