package engine_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"ndd/engine"
	"ndd/engine/corpus/ndf"
	"ndd/engine/index/segment"
	"ndd/permute"
)

// index builds and opens an index of fingerprints, whose documents are numbered from 0.
func index(ctx context.Context, dir string, fingerprints ...uint64) *engine.Index {
	var raw []byte
	for _, f := range fingerprints {
		raw = binary.LittleEndian.AppendUint64(raw, f)
	}
	path := filepath.Join(dir, "base.bin")
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		log.Fatal(err)
	}
	file, err := ndf.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	design, err := permute.Named("halves", 3, 1)
	if err != nil {
		log.Fatal(err)
	}
	if err := engine.Build(ctx, filepath.Join(dir, "index"), []*ndf.File{file}, segment.Options{Design: design}); err != nil {
		log.Fatal(err)
	}
	x, err := engine.Open(ctx, filepath.Join(dir, "index"), engine.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	return x
}

// A batch of queries: the answers come in order of the queries, those without hits are left out.
func ExampleIndex_Answers() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // ends a batch that runs
	dir, err := os.MkdirTemp("", "index")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	x := index(ctx, dir, 0x0f, 0xff00, 0x0f, 1<<63)
	defer x.Close()

	queries := []uint64{0x0e, 0xabcdef, 1<<63 | 3}
	for answer, err := range x.Answers(ctx, queries, engine.BatchOptions{K: 3, Docs: engine.AllDocs}) {
		if err != nil {
			log.Fatal(err)
		}
		for _, hit := range answer.Hits {
			fmt.Printf("query %d: %016x is %d bits away, documents %d\n", answer.Query, uint64(hit.Fingerprint), hit.Distance, hit.Docs)
		}
	}
	// Output:
	// query 0: 000000000000000f is 1 bits away, documents [0 2]
	// query 2: 8000000000000000 is 2 bits away, documents [3]
	// query 2: 000000000000000f is 3 bits away, documents [0 2]
}

// One query at a time.
func ExampleIndex_Query() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "index")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	x := index(ctx, dir, 0x0f, 0xff00)
	defer x.Close()

	hits, err := x.Query(0x07, 3, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range hits {
		fmt.Println("document", hit.Docs[0], "at", hit.Distance)
	}
	// Output: document 0 at 1
}
