package engine_test

import (
	"context"
	"fmt"
	"log"

	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/simhash"
)

// From texts to answers: a page is kept unless a near-duplicate of it is stored.
func Example() {
	ctx := context.Background()
	recipe := simhash.Default()
	printer, err := simhash.New(recipe)
	if err != nil {
		log.Fatal(err)
	}
	index, err := engine.New(3, engine.Options{Recipe: &recipe})
	if err != nil {
		log.Fatal(err)
	}
	defer index.Close()
	for id, text := range []string{
		"The quick brown fox jumps over the lazy dog, and the dog sleeps on in the shade of the old elm by the river.",
		"The quick brown fox jumps over the lazy dog, and the dog sleeps on in the shade of the old elm by the river!",
		"A page about the weather: rain in the morning, sun at noon, and wind from the west all through the night.",
	} {
		fingerprint, _, _ := printer.Fingerprint(text)
		outcomes, err := index.CheckAndInsert(ctx, engine.QueryOptions{K: 3, Docs: 1},
			engine.Doc{ID: fmt.Sprint("page ", id), Fingerprint: fingerprint})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("page", id, "kept:", outcomes[0].Inserted)
	}
	// Output:
	// page 0 kept: true
	// page 1 kept: false
	// page 2 kept: true
}

// From 64-bit numbers to answers: which are within 3 bits, and which documents have them.
func ExampleIndex_Query() {
	ctx := context.Background()
	index, err := engine.New(3, engine.Options{NoIDs: true})
	if err != nil {
		log.Fatal(err)
	}
	defer index.Close()
	for _, number := range []uint64{0x0f, 0xff00, 0x0f} {
		if _, err := index.Insert(ctx, engine.Doc{Fingerprint: simhash.Fingerprint(number)}); err != nil {
			log.Fatal(err)
		}
	}
	hits, err := index.Query(ctx, 0x07, engine.QueryOptions{K: 3, Docs: engine.AllDocs})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range hits {
		fmt.Println(hit.Fingerprint, "at distance", hit.Distance, "documents", hit.Docs)
	}
	// Output: 000000000000000f at distance 1 documents [0 2]
}

// A batch of queries: answers come in the order of the queries. Queries without hits are left out.
func ExampleIndex_Batch() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // ends a batch that runs
	index, err := engine.New(3, engine.Options{NoIDs: true})
	if err != nil {
		log.Fatal(err)
	}
	defer index.Close()
	stored := []engine.Doc{{Fingerprint: 0x0f}, {Fingerprint: 0xff00}, {Fingerprint: 0x0f}, {Fingerprint: 1 << 63}}
	if _, err := index.Insert(ctx, stored...); err != nil {
		log.Fatal(err)
	}
	queries := []simhash.Fingerprint{0x0e, 0xabcdef, 1<<63 | 3}
	err = index.Batch(ctx, queries, engine.BatchOptions{K: 3, Docs: engine.AllDocs},
		func(query int, hits []engine.Hit) error {
			for _, hit := range hits {
				fmt.Printf("query %d: %v is %d bits away, documents %d\n", query, hit.Fingerprint, hit.Distance, hit.Docs)
			}
			return nil // an error would end the batch
		})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// query 0: 000000000000000f is 1 bits away, documents [0 2]
	// query 2: 8000000000000000 is 2 bits away, documents [3]
	// query 2: 000000000000000f is 3 bits away, documents [0 2]
}
