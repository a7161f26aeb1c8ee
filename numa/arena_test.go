package numa

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"example.org/ndd/engine/oracle/must"
)

// sizes are sizes at which arenas are allocated differently: a page and less, more than a huge page.
var sizes = []uint64{1, pageBytes, pageBytes + 1, hugeBytes - 1, hugeBytes, 33*hugeBytes + 5}

// useArena checks that an arena is zeroed, writes it (all of a small one), reads it and frees it.
func useArena(t *testing.T, a *Arena, bytes uint64) {
	t.Helper()
	if uint64(len(a.Data)) != bytes || cap(a.Data) != len(a.Data) {
		t.Fatalf("%d bytes, capacity %d, want %d", len(a.Data), cap(a.Data), bytes)
	}
	stride := 1
	if bytes > hugeBytes {
		stride = 211
	}
	for i := 0; i < len(a.Data); i += stride {
		if v := a.Data[i]; v != 0 {
			t.Fatalf("byte %d of %d is %d", i, bytes, v)
		}
		a.Data[i] = byte(i)
	}
	for i := 0; i < len(a.Data); i += stride {
		if v := a.Data[i]; v != byte(i) {
			t.Fatalf("byte %d of %d is %d", i, bytes, v)
		}
	}
	a.Free()
	a.Free()
	if a.Data != nil {
		t.Fatal("data after Free")
	}
}

// TestArena makes arenas on every node of this host. The kernel reports that all pages are on their node, unless the
// host gave a reason.
func TestArena(t *testing.T) {
	h := New(Options{})
	for _, p := range h.Nodes() {
		for _, bytes := range sizes {
			a, err := h.Arena(p, bytes)
			must.Do(t, err)
			clear(a.Data) // now it is there
			where := placement(t, a)
			if where.Bytes != bytes || where.Pages != (bytes+pageBytes-1)/pageBytes {
				t.Errorf("%d bytes: %+v", bytes, where)
			}
			if !whole(where) && where.Sampled > 0 || where.Sampled == 0 && !said(h, "move_pages") || !a.Bound &&
				!said(h, "mbind", "assumed") && h.Topology().Known {
				t.Errorf("%d bytes: %v, bound %t; %q", bytes, where, a.Bound, h.Notes())
			}
			useArena(t, a, bytes)
		}
	}
	if a, err := h.Arena(h.Nodes()[0], 0); err != nil || len(a.Data) != 0 || a.Placement().Pages != 0 {
		t.Error(a, err)
	}
	if _, err := h.Arena(h.Nodes()[0], 1<<60); err == nil {
		t.Error("more than an address space was given")
	}
	t.Log(h.Notes())
}

// placement returns where the pages of an arena are. It asks again if pages have no memory, because the kernel may be
// moving them.
func placement(t *testing.T, a *Arena) (where Placement) {
	for range 20 {
		if where = a.Placement(); whole(where) || where.Sampled == 0 {
			break
		}
		t.Logf("asking again: %v", where)
		time.Sleep(50 * time.Millisecond)
	}
	return where
}

// said reports whether one of the texts is in the host's notes.
func said(h *Host, texts ...string) bool {
	for _, text := range texts {
		if slices.ContainsFunc(h.Notes(), func(n string) bool { return strings.Contains(n, text) }) {
			return true
		}
	}
	return false
}

// TestInject makes every system call fail with every error. Its feature is omitted with one message, and all else
// works. Only missing memory is an error.
func TestInject(t *testing.T) {
	for _, call := range Injectable() {
		for _, fault := range []syscall.Errno{syscall.EPERM, syscall.ENOSYS, syscall.EINVAL, syscall.ENOMEM} {
			t.Run(fmt.Sprintf("%s %v", call, fault), func(t *testing.T) {
				var log strings.Builder
				h := New(Options{Root: withMemory(1 << 40), Log: slog.New(slog.NewTextHandler(&log, nil)), Inject: func(c string) error {
					if c == call {
						return fault
					}
					return nil
				}})
				p := h.Nodes()[0]
				for range 2 {
					a, err := h.Arena(p, 3*hugeBytes)
					fatal := call == "mmap"
					if (err != nil) != fatal || fatal && !errors.Is(err, fault) {
						t.Fatalf("%v: %v", h.Notes(), err)
					}
					if err == nil {
						if call == "mbind" && a.Bound || call == "move_pages" && a.Placement().Sampled != 0 {
							t.Error(a.Bound, a.Placement())
						}
						useArena(t, a, 3*hugeBytes)
					}
					useCrew(t, h, p, 2)
				}
				lines := strings.Count(log.String(), "\n")
				if lines != len(h.Notes()) {
					t.Errorf("%d lines of %d notes:\n%s", lines, len(h.Notes()), log.String())
				}
				texts := map[string]string{"mbind": "mbind: ", "move_pages": "move_pages: ", "madvise hugepage": "madvise: ",
					"sched_setaffinity": "sched_setaffinity: "}
				if text := texts[call]; runtime.GOOS == "linux" && text != "" &&
					strings.Count(log.String(), text+fault.Error()) != 1 {
					t.Errorf("said %q, which should be there once", log.String())
				}
			})
		}
	}
}

// withMemory returns a host of one node with the given number of free bytes.
func withMemory(bytes uint64) fs.FS {
	return fstest.MapFS{
		nodeDir + "/online":        {Data: []byte("0\n")},
		nodeDir + "/node0/cpulist": {Data: []byte(ranges(count(runtime.NumCPU())))},
		nodeDir + "/node0/meminfo": {Data: fmt.Appendf(nil, "Node 0 MemTotal: %d kB\nNode 0 MemFree: %d kB\n",
			uint64(1<<30), bytes>>10)},
	}
}

// TestFull says that a node is asked first: beyond its memory the kernel kills.
func TestFull(t *testing.T) {
	reserve := uint64(1 << 40 / reservePart)
	h := New(Options{Root: withMemory(reserve + 8*hugeBytes)})
	p := h.Nodes()[0]
	a, err := h.Arena(p, 8*hugeBytes)
	must.Do(t, err)
	useArena(t, a, 8*hugeBytes)
	if _, err = h.Arena(p, 8*hugeBytes+1); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
}

// TestPlacementInWords checks the messages about the placement of pages.
func TestPlacementInWords(t *testing.T) {
	for want, p := range map[string]Placement{
		"node 1: 512 MiB, 100.0 % of its pages there": {Node: 1, Bytes: 512 << 20, Pages: 1 << 17,
			Sampled: 1 << 17, Local: 1 << 17},
		"node 0: 40 MiB, 99.9 % of its pages there, 6 in no memory": {Bytes: 40 << 20, Pages: 10_246, Sampled: 10_246,
			Local: 10_240, Missing: 6},
		"node 0: 40 MiB, 99.9 % of its pages there": {Bytes: 40 << 20, Pages: 10_246, Sampled: 10_246,
			Local: 10_240},
		"node 2: 40 MiB, place unknown": {Node: 2, Bytes: 40 << 20, Pages: 10_246},
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// whole reports whether the kernel was asked of at least one page, and each of these is on the node.
func whole(p Placement) bool { return p.Sampled > 0 && p.Local == p.Sampled }
