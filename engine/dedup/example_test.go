package dedup_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"ndd/engine/dedup"
	"ndd/engine/ingest"
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
