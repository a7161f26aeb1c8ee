package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"ndd/engine/storage/store"
)

// hugeSections keeps sections in memory of 2 MiB pages outside the Go heap, as an index in the
// memory of a large host. Memory is taken as it is written.
type hugeSections struct {
	tb   testing.TB
	name string
	data map[string][]byte
}

const hugeReserve = min(16<<30, math.MaxInt/4) // of addresses a section

func newHugeSections(tb testing.TB) *hugeSections {
	return &hugeSections{tb: tb, data: make(map[string][]byte)}
}

// hugeBytes reserves room for n bytes, freed when the benchmark ends.
func hugeBytes(tb testing.TB, n int) []byte {
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		tb.Fatalf("reserving %d bytes: %v", n, err)
	}
	if err := unix.Madvise(mem, unix.MADV_HUGEPAGE); err != nil {
		tb.Logf("no huge pages: %v", err)
	}
	tb.Cleanup(func() { unix.Munmap(mem) })
	return mem
}

func (h *hugeSections) Section(name string) {
	h.name = name
	h.data[name] = hugeBytes(h.tb, hugeReserve)[:0]
}

func (h *hugeSections) Write(p []byte) (int, error) {
	d := h.data[h.name]
	if len(p) > cap(d)-len(d) {
		return 0, fmt.Errorf("section %s is longer than %d bytes", h.name, cap(d))
	}
	h.data[h.name] = append(d, p...)
	return len(p), nil
}

type hugeSource struct{ *hugeSections }

func (h hugeSource) Section(name string) (store.Section, error) {
	data, ok := h.data[name]
	if !ok {
		return store.Section{}, fmt.Errorf("no section %q", name)
	}
	return store.Section{Name: name, Data: data}, nil
}

// keptSections are the sections of a table, in the order of a kept file.
var keptSections = []string{"head", "lines", "wide", "low", "rest", "fences", "blocks", "last", "ranks"}

// loadSections reads what save kept in the folder NDD_TABLES, or returns nil.
func loadSections(tb testing.TB, name string) *hugeSections {
	if os.Getenv("NDD_TABLES") == "" {
		return nil
	}
	h := newHugeSections(tb)
	for _, section := range keptSections {
		f, err := os.Open(filepath.Join(os.Getenv("NDD_TABLES"), name+"."+section))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			tb.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			tb.Fatal(err)
		}
		data := hugeBytes(tb, int(info.Size())+1)[:info.Size()]
		if _, err := io.ReadFull(f, data); err != nil {
			tb.Fatal(err)
		}
		f.Close()
		h.data[section] = data
	}
	if len(h.data) == 0 {
		return nil
	}
	return h
}

// save keeps the sections in the folder NDD_TABLES, if there is one.
func (h *hugeSections) save(name string) {
	if os.Getenv("NDD_TABLES") == "" {
		return
	}
	if err := os.MkdirAll(os.Getenv("NDD_TABLES"), 0o777); err != nil {
		h.tb.Fatal(err)
	}
	for section, data := range h.data {
		if err := os.WriteFile(filepath.Join(os.Getenv("NDD_TABLES"), name+"."+section), data, 0o666); err != nil {
			h.tb.Fatal(err)
		}
	}
}
