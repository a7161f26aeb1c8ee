package dedup_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/near/dedup"
	"example.org/ndd/engine/near/keep"
)

// Example keeps the report with the best score of three reports of one event.
func Example() {
	dir, err := os.MkdirTemp("", "dedup")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "news.jsonl")
	const flood = "The river rose two metres on Sunday night and flooded the lower town"
	err = os.WriteFile(path, []byte(`{"id":"a","score":0.3,"text":"`+flood+`; nobody was hurt, the mayor said."}
{"id":"b","score":0.9,"text":"`+flood+`; nobody was hurt, the mayor said today."}
{"id":"c","score":0.5,"text":"Bread needs four things, of which the last is what most bakers are short of: time."}
{"id":"d","score":0.1,"text":"`+flood+`: nobody was hurt, the mayor said."}
`), 0o644)
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	keep, err := keep.Parse("score")
	if err != nil {
		log.Fatal(err)
	}
	corpus, _, err := dedup.ReadDocuments(ctx, []string{path}, ingest.Config{}, dedup.ReadOptions{Keep: keep, Sketches: true})
	if err != nil {
		log.Fatal(err)
	}
	result, err := dedup.Find(ctx, corpus, dedup.Options{K: 8, Rule: dedup.Rule{{Jaccard: 0.8}}})
	if err != nil {
		log.Fatal(err)
	}
	for d := range result.Dropped() {
		fmt.Printf("%s is dropped for %s: estimated Jaccard similarity %.2f\n", corpus.ID(d.Row), d.Kept, d.Jaccard)
	}
	for d := range result.Kept() {
		fmt.Println(d.ID, "stays")
	}
	// Output:
	// a is dropped for b: estimated Jaccard similarity 1.00
	// d is dropped for b: estimated Jaccard similarity 1.00
	// b stays
	// c stays
}

// chain has three fingerprints, each 3 bits from the next one, and a distant one.
var chain = []dedup.Document{
	{ID: "a", Fingerprint: 0b000_000},
	{ID: "b", Fingerprint: 0b000_111},
	{ID: "c", Fingerprint: 0b111_111},
	{ID: "d", Fingerprint: 0xffff << 40},
}

// ExampleFind clusters fingerprints from any source: c is near b only, which is dropped, so c stays.
func ExampleFind() {
	corpus := dedup.NewCorpus(nil, dedup.ReadOptions{})
	for _, d := range chain {
		if err := corpus.Append(d); err != nil {
			log.Fatal(err) // not enough memory
		}
	}
	result, err := dedup.Find(context.Background(), corpus, dedup.Options{K: 3})
	if err != nil {
		log.Fatal(err)
	}
	for d := range result.Dropped() {
		fmt.Printf("%s is dropped for %s at distance %d\n", corpus.ID(d.Row), d.Kept, d.Distance)
	}
	// Output:
	// b is dropped for a at distance 3
}
