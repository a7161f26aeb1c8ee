package main

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync"

	"example.org/ndd/engine/corpus/token"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/memory"
	"example.org/ndd/permute"
)

// generatedDesign is the tables of generated fingerprints: halves, each with its own bits leading.
var generatedDesign = permute.Design{Name: "halves", K: distance, Tables: []permute.Table{
	{Mask: 0xffffffff << 32, Radius: 1}, {Mask: 0xffffffff, Radius: 1}}}

// A generatedInput is a number of fingerprints. Each is computed from its row when a build reads it. It implements
// [example.org/ndd/engine/index/radix.Input].
type generatedInput int

// generatedFingerprint returns fingerprint i. All are distinct and not 0, and look random.
func generatedFingerprint(i uint64) uint64 { return token.Mix(i) }

// Len returns the number of fingerprints.
func (n generatedInput) Len() int { return int(n) }

// Read calls f with the fingerprints of a part.
func (n generatedInput) Read(part, parts int, f func(fingerprints []uint64, row int) error) error {
	var buffer [2048]uint64
	for row, end := int(n)*part/parts, int(n)*(part+1)/parts; row < end; row += len(buffer) {
		fingerprints := buffer[:min(len(buffer), end-row)]
		for i := range fingerprints {
			fingerprints[i] = generatedFingerprint(uint64(row + i))
		}
		if err := f(fingerprints, row); err != nil {
			return err
		}
	}
	return nil
}

// generatedOptions returns the options for segments of generated fingerprints: without documents, in the available
// memory or through a temporary file.
func (b *bench) generatedOptions() segment.Options {
	return segment.Options{Design: generatedDesign, Table: table.Options{Layout: table.LayoutPlanar}, NoDocs: true,
		TempDir: b.dir, Budget: memory.NewBudget(memory.Machine{}.Limit(0))}
}

// A generatedBatch has queries and their answers. Every second query is within the distance of a fingerprint.
type generatedBatch struct {
	queries []uint64
	origins []uint64 // near[i] is the fingerprint from which query i was made; 0 for none
	times   []uint8  // times[i] is the number of times that query i found near[i]
	first   answer   // answer to the first queries
	hits    int
}

// comparedQueries are compared with all fingerprints.
const comparedQueries = 8

func newGeneratedBatch(n uint64, count int) *generatedBatch {
	b := &generatedBatch{queries: make([]uint64, count), origins: make([]uint64, count), times: make([]uint8, count)}
	for i := range b.queries {
		random := token.Mix(^uint64(i))
		if i%2 == 1 {
			b.queries[i] = random
			continue
		}
		b.origins[i] = generatedFingerprint(random % n)
		b.queries[i] = b.origins[i]
		for range i / 2 % (distance + 1) {
			random = token.Mix(random)
			b.queries[i] ^= 1 << (random & 63)
		}
	}
	return b
}

// forget removes all hits.
func (b *generatedBatch) forget() {
	clear(b.times)
	b.first, b.hits = answer{}, 0
}

// add adds a hit.
func (b *generatedBatch) add(query int, fingerprint uint64) {
	b.hits++
	if fingerprint == b.origins[query] {
		b.times[query]++
	}
	if query < comparedQueries {
		b.first.add(query, fingerprint)
	}
}

// verifyNear returns an error unless each of the first queries found the fingerprint it was made from.
func (b *generatedBatch) verifyNear(count int) error {
	for i, f := range b.origins[:count] {
		if f != 0 && b.times[i] != 1 {
			return fmt.Errorf("query %d, %016x: the fingerprint that it was made near, %016x, was found %d times", i,
				b.queries[i], f, b.times[i])
		}
	}
	return nil
}

// verify returns an error unless each query found the fingerprint it was made from, and the first queries found the
// same as a comparison with all n fingerprints.
func (b *generatedBatch) verify(ctx context.Context, n uint64, r *Result) error {
	if err := b.verifyNear(len(b.origins)); err != nil {
		return err
	}
	first := b.queries[:min(comparedQueries, len(b.queries))]
	if want := compareGenerated(ctx, n, first); ctx.Err() == nil && b.first != want {
		return fmt.Errorf("the first queries found %v, comparing with all finds %v", b.first, want)
	}
	const verified = "verified: each query that was made within %d bits of a fingerprint finds it, and the first %d find " +
		"what comparing with all finds"
	r.Notes = append(slices.DeleteFunc(r.Notes, func(s string) bool { return strings.HasPrefix(s, "verified") }),
		fmt.Sprintf(verified, distance, len(first)))
	return ctx.Err()
}

// compareGenerated compares queries with all n fingerprints, or with fewer once ctx is done.
func compareGenerated(ctx context.Context, n uint64, queries []uint64) (all answer) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	threads := uint64(runtime.GOMAXPROCS(0))
	for t := range threads {
		wait.Go(func() {
			var scanned answer
			for i := n * t / threads; i < n*(t+1)/threads; i++ {
				if i%(1<<20) == 0 && ctx.Err() != nil {
					return
				}
				f := generatedFingerprint(i)
				for j, q := range queries {
					if bits.OnesCount64(f^q) <= distance {
						scanned.add(j, f)
					}
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all.plus(scanned)
		})
	}
	wait.Wait()
	return all
}
