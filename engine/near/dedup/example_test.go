package dedup_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"
	"time"

	"ndd/engine"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/near/cluster"
	"ndd/engine/near/dedup"
	"ndd/permute"
)

// Three reports of one event, of which the one with the best score is kept.
func Example() {
	dir, err := os.MkdirTemp("", "dedup")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "news.jsonl")
	err = os.WriteFile(path, []byte(`{"id":"a","score":0.3,"text":"The river rose two metres on Sunday night and flooded the lower town; nobody was hurt, the mayor said."}
{"id":"b","score":0.9,"text":"The river rose two metres on Sunday night and flooded the lower town; nobody was hurt, the mayor said today."}
{"id":"c","score":0.5,"text":"Bread needs four things: flour, water, salt and time, and the last is what most bakers are short of."}
{"id":"d","score":0.1,"text":"The river rose two metres on Sunday night and flooded the lower town: nobody was hurt, the mayor said."}
`), 0o644)
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	keep, err := dedup.ParseKeep("score", "")
	if err != nil {
		log.Fatal(err)
	}
	corpus, _, err := dedup.ReadDocuments(ctx, []string{path}, ingest.Config{}, dedup.ReadOptions{Keep: keep})
	if err != nil {
		log.Fatal(err)
	}
	result, err := dedup.Find(ctx, corpus, dedup.Options{K: 6, Verify: &dedup.Verify{Jaccard: 0.8}})
	if err != nil {
		log.Fatal(err)
	}
	for d := range result.Dropped() {
		fmt.Printf("%s goes for %s: %.2f of their shingles are the same\n", corpus.ID(d.Row), d.Kept, d.Similarity)
	}
	for row := range result.Kept() {
		fmt.Println(corpus.ID(row), "stays")
	}
	// Output:
	// a goes for b: 0.94 of their shingles are the same
	// d goes for b: 0.94 of their shingles are the same
	// b stays
	// c stays
}

// chain are three fingerprints of which each is 3 bits from the next, and one far away.
var chain = []dedup.Document{
	{ID: "a", Fingerprint: 0b000_000},
	{ID: "b", Fingerprint: 0b000_111},
	{ID: "c", Fingerprint: 0b111_111},
	{ID: "d", Fingerprint: 0xffff << 40},
}

// Fingerprints from anywhere: clusters chain, stars do not.
func ExampleFind() {
	corpus := dedup.NewCorpus(nil, dedup.ReadOptions{})
	for _, d := range chain {
		if err := corpus.Append(d); err != nil {
			log.Fatal(err) // there is no memory for so many
		}
	}
	for _, star := range []bool{false, true} {
		result, err := dedup.Find(context.Background(), corpus, dedup.Options{K: 3, Star: star})
		if err != nil {
			log.Fatal(err)
		}
		for c := range result.Clusters() {
			fmt.Printf("star %v, cluster %d keeps %s:", star, c.Number, corpus.ID(c.Kept))
			for _, row := range c.Rows {
				fmt.Printf(" %s at %d", corpus.ID(row), result.Distance(row, c.Kept))
			}
			fmt.Println()
		}
	}
	// Output:
	// star false, cluster 1 keeps a: a at 0 b at 3 c at 6
	// star true, cluster 1 keeps a: a at 0 b at 3
}

// New documents against an index: what is near one there goes first.
func ExampleOptions_known() {
	dir, err := os.MkdirTemp("", "dedup")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	// An index of one document, number 0, whose fingerprint is 1.
	old := filepath.Join(dir, "old.bin")
	if err := os.WriteFile(old, []byte{1, 0, 0, 0, 0, 0, 0, 0}, 0o644); err != nil {
		log.Fatal(err)
	}
	file, err := ndf.Open(old)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	design, err := permute.Named("halves", 3, 1)
	if err != nil {
		log.Fatal(err)
	}
	if err := engine.Build(ctx, filepath.Join(dir, "index"), []*ndf.File{file}, engine.BuildOptions{Options: segment.Options{Design: design}}); err != nil {
		log.Fatal(err)
	}
	index, err := engine.Open(ctx, filepath.Join(dir, "index"), engine.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer index.Close()

	corpus := dedup.NewCorpus(nil, dedup.ReadOptions{})
	for _, d := range chain {
		if err := corpus.Append(d); err != nil {
			log.Fatal(err)
		}
	}
	known := func(ctx context.Context, fingerprints []uint64, _ []uint32, found func(row int, id string, distance int) error) error {
		return index.Batch(ctx, simhash.Fingerprints(fingerprints), engine.BatchOptions{K: 3, Docs: 1}, func(query int, hits []engine.Hit) error {
			return found(query, fmt.Sprint("old document ", hits[0].Docs[0]), hits[0].Distance) // the nearest
		})
	}
	result, err := dedup.Find(ctx, corpus, dedup.Options{K: 3, Known: known})
	if err != nil {
		log.Fatal(err)
	}
	for d := range result.Dropped() {
		fmt.Printf("%s goes for %s, %d bits away\n", corpus.ID(d.Row), d.Kept, d.Distance)
	}
	for row := range result.Kept() {
		fmt.Println(corpus.ID(row), "stays")
	}
	// Output:
	// a goes for old document 0, 1 bits away
	// b goes for old document 0, 2 bits away
	// c stays
	// d stays
}

// While a comparison goes on any goroutine may read the meter, here one that says every second how far it is.
func ExampleOptions_meter() {
	corpus := dedup.NewCorpus(nil, dedup.ReadOptions{})
	for i := range 200_000 {
		if err := corpus.Append(dedup.Document{ID: fmt.Sprint(i), Fingerprint: 0x9e3779b97f4a7c15 * (1 + 2*simhash.Fingerprint(i))}); err != nil {
			log.Fatal(err)
		}
	}
	meter := &cluster.Meter{}
	ended := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				log.Printf("%d of %d", meter.Compared.Load(), meter.Total.Load())
			case <-ended:
				return
			}
		}
	})
	_, err := dedup.Find(context.Background(), corpus, dedup.Options{K: 3, Meter: meter})
	close(ended)
	watch.Wait()
	fmt.Println(err, meter.Total.Load() > 200_000, meter.Compared.Load() == meter.Total.Load())
	// Output: <nil> true true
}
