package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"ndd/engine/index/radix"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// discard is a sink that sums what it is given, so that every byte is read as a file's checksum reads it.
type discard struct{ bytes int }

func (*discard) Section(string) {}

func (d *discard) Write(p []byte) (int, error) {
	d.bytes += len(p)
	return len(p), nil
}

// BenchmarkBuild builds one table from unsorted fingerprints as a segment does, from memory to
// memory: permute, sort, pack. read-ratio and copy-ratio are its time divided by that of reading and of
// copying the fingerprints once on one thread. A small table is opened and walked, and
// must hold the keys that a sort of the library finds. NDD_BUILD is the number of fingerprints
// (default 1e7).
func BenchmarkBuild(b *testing.B) {
	n := 10_000_000
	if s := os.Getenv("NDD_BUILD"); s != "" {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			b.Fatal(err)
		}
		n = int(f)
	}
	const mask = 0x5555555555555555
	machine := reportMemory(b)
	memory := func(n int) []uint64 {
		m, err := memory.Make[uint64](n)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(m.Free)
		return m.Data
	}
	prints, keys := memory(n), memory(n)
	for i := range prints {
		prints[i] = mix(uint64(i))
	}
	copying := best(3, func() { copy(keys, prints) }).Seconds()
	for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
		verifyBuild(b, layout, prints[:min(n, 300_000)], mask)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("layout=%s/n=%d/threads=%d", layout, n, threads), func(b *testing.B) {
				var to discard
				for b.Loop() {
					to = discard{}
					if err := buildTable(&to, keys, prints, mask, layout, threads); err != nil {
						b.Fatal(err)
					}
				}
				seconds := b.Elapsed().Seconds() / float64(b.N)
				b.ReportMetric(float64(n)/seconds/1e6, "Mkeys/s")
				b.ReportMetric(float64(to.bytes)/float64(n), "B/key")
				b.ReportMetric(seconds/(8*float64(n)/machine.ReadGBps/1e9), "read-ratio")
				b.ReportMetric(seconds/copying, "copy-ratio")
			})
		}
	}
}

// buildTable makes a table of distinct fingerprints; keys is room for as many.
func buildTable(to store.Sink, keys, prints []uint64, mask uint64, layout table.Layout, threads int) error {
	o := radix.Options{Mask: mask, Threads: threads}
	if layout != table.LayoutPlanar {
		if err := radix.SortKeys(context.Background(), keys, radix.Chunks{prints}, o); err != nil {
			return err
		}
		return table.Write(to, "", keys, table.Options{Layout: layout})
	}
	p, err := table.NewPlanarBuilder(uint64(len(prints)))
	if err != nil {
		return err
	}
	defer p.Free()
	_, err = radix.Distinct(context.Background(), keys, radix.Chunks{prints}, o, func(k radix.Bucket) error {
		p.Pack(uint64(k.Rank), k.Keys, k.Room)
		return nil
	})
	if err != nil {
		return err
	}
	return p.Write(to, "", threads)
}

// verifyBuild compares a table's keys with sorted ones.
func verifyBuild(b *testing.B, layout table.Layout, prints []uint64, mask uint64) {
	b.Helper()
	var sections store.Memory
	if err := buildTable(&sections, make([]uint64, len(prints)), prints, mask, layout, 2); err != nil {
		b.Fatal(err)
	}
	tab, err := table.Open(sections.Source(), "", layout)
	if err != nil {
		b.Fatal(err)
	}
	perm := permute.New(mask)
	want := make([]uint64, len(prints))
	for i, p := range prints {
		want[i] = perm.Apply(p)
	}
	slices.Sort(want)
	at := 0
	err = tab.Walk(func(keys []uint64) bool {
		if !slices.Equal(keys, want[at:at+len(keys)]) {
			b.Fatalf("keys from rank %d differ", at)
		}
		at += len(keys)
		return true
	})
	if err != nil || at != len(want) {
		b.Fatalf("%d keys of %d, %v", at, len(want), err)
	}
}
