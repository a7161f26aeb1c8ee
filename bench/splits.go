package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/dustin/go-humanize"

	"ndd/engine/copies"
	"ndd/engine/mapreduce"
	"ndd/engine/plot"
)

const (
	splitParts      = 4  // maps of each job
	splitPartitions = 64 // of keys
)

// splits finds the copies among 2,500, 5,000, 10,000 and 20,000 invented documents by both jobs of 'ndd mapreduce', with an index that is
// split by documents and with one by terms, as Zhang et al. did on Hadoop: what goes through their shuffles, and
// how long the filters take.
func splits(ctx context.Context, b *bench, r *Result) error {
	r.Columns = []string{"pairs", "doc-split records", "MB", "signatures to each map, MB", "processor s", "growth", "term-split records", "MB", "processor s", "growth"}
	most := min(max(b.n/500, 400), 20_000)
	c := newEdited(3)
	chart := &plot.Lines{Title: "Copies among invented documents: what goes through the shuffles", X: "documents", Y: "records, as a power of ten",
		Series: []plot.Series{{Name: "split by terms"}, {Name: "split by documents"}, {Name: "pairs found"}}}
	var first [2]float64 // seconds a document
	for n := most / 8; n <= most; n *= 2 {
		b.say("%s documents", humanize.Comma(int64(n)))
		s := splitJobs{ctx: ctx, n: n, options: copies.Options{Method: copies.SpotSigs}}
		if err := s.run(b, c); err != nil {
			return fmt.Errorf("%d documents: %w", n, err)
		}
		if n == most/8 {
			first = [2]float64{s.docs.seconds / float64(n), s.terms.seconds / float64(n)}
		}
		grown := func(t traffic, first float64) Cell { return number(t.seconds / float64(n) / first) }
		r.row(humanize.Comma(int64(n))+" documents", number(float64(s.pairs)),
			number(float64(s.docs.records)), number(float64(s.docs.bytes)/1e6), number(float64(s.signatures)/1e6), number(s.docs.seconds), grown(s.docs, first[0]),
			number(float64(s.terms.records)), number(float64(s.terms.bytes)/1e6), number(s.terms.seconds), grown(s.terms, first[1]))
		chart.Labels = append(chart.Labels, humanize.Comma(int64(n)))
		for i, v := range []int{s.terms.records, s.docs.records, s.pairs} {
			power := math.Log10(float64(v)) // of no record: none, which the chart leaves out
			if v == 0 {
				power = math.NaN()
			}
			chart.Series[i].Values = append(chart.Series[i].Values, power)
			chart.Top = max(chart.Top, int(math.Ceil(power)))
		}
	}
	r.chart(r.Name, chart)
	r.note("texts and method as of the table copies; %d maps and a reduce on one thread, term-split with its combiner; verified: both splits find the same pairs", splitParts)
	r.note("growth: processor seconds of the filters a document, of those with the fewest documents; records: what reduces read, end records too, of which there are at most %d a job; MB: 10^6 bytes, uncompressed", splitParts*splitPartitions)
	return nil
}

// A traffic is what the maps of a job sent to its reduces, and how much processor time its filters took.
type traffic struct {
	records, bytes int
	seconds        float64
}

// splitJobs are the jobs of both splits over n documents.
type splitJobs struct {
	ctx         context.Context
	n           int
	options     copies.Options
	docs, terms traffic
	pairs       int
	signatures  int // bytes
}

func (s *splitJobs) run(b *bench, c *edited) error {
	signed, err := s.sign(c)
	if err != nil {
		return err
	}
	side := filepath.Join(b.dir, "signatures.tsv")
	if err := os.WriteFile(side, signed, 0o600); err != nil {
		return err
	}
	s.signatures = len(signed)
	docs, err := s.job(mapreduce.CopiesDocs{Queries: side, Copies: s.options}, signed, &s.docs)
	if err != nil {
		return err
	}
	partial, err := s.job(mapreduce.CopiesTerms{Copies: s.options}, signed, &s.terms)
	if err != nil {
		return err
	}
	terms, err := s.job(mapreduce.CopiesSum{Copies: s.options}, partial, &s.terms)
	if err != nil {
		return err
	}
	lines := [2][][]byte{}
	for i, results := range [][]byte{docs, terms} {
		var whole bytes.Buffer
		if err := mapreduce.Collect(s.ctx, mapreduce.Options{In: bytes.NewReader(results), Out: &whole, Parts: 1}); err != nil {
			return err
		}
		lines[i] = sortedLines(whole.Bytes())
	}
	if !slices.EqualFunc(lines[0], lines[1], bytes.Equal) {
		return fmt.Errorf("split by documents there are %d pairs, by terms %d", len(lines[0]), len(lines[1]))
	}
	s.pairs = len(lines[0])
	return nil
}

// sign returns what the job signatures writes of the documents.
func (s *splitJobs) sign(c *edited) ([]byte, error) {
	var in, out bytes.Buffer
	e := json.NewEncoder(&in)
	for i := range s.n {
		if err := e.Encode(map[string]string{"id": fmt.Sprintf("d%06d", i), "text": c.text(i)}); err != nil {
			return nil, err
		}
	}
	err := mapreduce.Map(s.ctx, mapreduce.Signatures{Copies: s.options}, mapreduce.Options{In: &in, Out: &out, Partitions: 1})
	return out.Bytes(), err
}

// A splitJob has a map and a reduce.
type splitJob interface {
	mapreduce.Mapper
	mapreduce.Reducer
}

// job runs a job on parts of its input, sorts between, adds what it took, and returns its results.
func (s *splitJobs) job(j splitJob, input []byte, took *traffic) ([]byte, error) {
	combiner, _ := j.(mapreduce.Combiner)
	lines := slices.Collect(bytes.Lines(input))
	var shuffled bytes.Buffer
	for part := range slices.Chunk(lines, (len(lines)+splitParts-1)/splitParts) {
		mapped, err := s.step(took, bytes.Join(part, nil), func(o mapreduce.Options) error { return mapreduce.Map(s.ctx, j, o) })
		if err == nil && combiner != nil {
			sorted := bytes.Join(sortedLines(mapped), nil)
			mapped, err = s.step(took, sorted, func(o mapreduce.Options) error { return mapreduce.Combine(s.ctx, combiner, o) })
		}
		if err != nil {
			return nil, err
		}
		shuffled.Write(mapped)
	}
	sorted := sortedLines(shuffled.Bytes())
	took.records += len(sorted)
	took.bytes += shuffled.Len()
	return s.step(took, bytes.Join(sorted, nil), func(o mapreduce.Options) error { return mapreduce.Reduce(s.ctx, j, o) })
}

// step runs a filter on an input and adds its seconds.
func (s *splitJobs) step(took *traffic, input []byte, run func(mapreduce.Options) error) ([]byte, error) {
	var out bytes.Buffer
	began := processorTime()
	err := run(mapreduce.Options{In: bytes.NewReader(input), Out: &out, Partitions: splitPartitions})
	took.seconds += (processorTime() - began).Seconds()
	return out.Bytes(), err
}

// sortedLines returns the lines of a text in the order of their bytes.
func sortedLines(text []byte) [][]byte {
	lines := slices.Collect(bytes.Lines(text))
	slices.SortFunc(lines, bytes.Compare)
	return lines
}
