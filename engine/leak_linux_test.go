package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/index/worker"
	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/numa"
)

// TestRefusalLeavesNoFiles opens damaged indexes in every way. No file stays open or mapped, and all memory is
// released.
func TestRefusalLeavesNoFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "00000001.segment")
	host := numa.New(numa.Options{})
	modes := []live.OpenOptions{{Threads: 1}, {Verify: live.VerifyFast}, {Threads: 2, Load: true},
		{Threads: 1, Spread: &worker.Options{Host: host}}}
	refused, opened := 0, 0
	open := func() {
		x, err := openAs(t.Context(), dir, modes[(refused+opened)%len(modes)])
		if err != nil {
			hostile.Expect(t, "open", err)
			refused++
		} else {
			opened++
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}
		if n := held(t, dir); n != "" {
			t.Fatalf("after %v: %s", err, n)
		}
	}
	for _, layout := range goldenLayouts {
		manifest := read(t, string(layout), "manifest")
		must.Do(t, os.WriteFile(filepath.Join(dir, "manifest"), manifest, 0o644))
		sound := read(t, string(layout), "00000001.segment")
		write := func(data []byte) {
			must.Do(t, os.WriteFile(path, data, 0o644))
			open()
		}
		for n := 0; n < len(sound); n += 4999 { // cut, and flipped
			write(sound[:n])
			sound[n] ^= 1
			write(sound)
			sound[n] ^= 1
		}
		// A file that verifies and has the length in the manifest is refused later.
		f, err := store.OpenBytes(path, sound, store.KindSegment)
		must.Do(t, err)
		change, every := 0, long.Or(31, 7)
		hostile.Each(f.Sections(), 1000, 11, func(changed []store.Section) {
			if change++; change%every != 0 {
				return
			}
			if data := hostile.Bytes(store.KindSegment, f.Identity(), changed); len(data) == len(sound) {
				write(data)
			}
		})
	}
	if refused < 50 || opened < 10 {
		t.Errorf("%d refused, %d opened", refused, opened)
	}
}

// held lists the open and mapped files of this process below dir.
func held(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	fds, err := os.ReadDir("/proc/self/fd")
	must.Do(t, err)
	for _, fd := range fds {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(to, dir) {
			list = append(list, "open: "+to)
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	must.Do(t, err)
	for line := range strings.Lines(string(maps)) {
		if strings.Contains(line, dir) {
			list = append(list, "mapped: "+line)
		}
	}
	return strings.Join(list, "; ")
}

// TestRefusalReleases cancels the copying of tables to nodes at random moments, and refuses an index that was read
// into memory. The memory is released; each opening takes some megabytes.
func TestRefusalReleases(t *testing.T) {
	dir, _ := large(t, table.LayoutPlanar)
	before, refused := addressSpace(t), 0
	o := live.OpenOptions{Threads: 1, Spread: &worker.Options{Host: numa.New(numa.Options{})}}
	for left, opened := int64(0), false; !opened; left++ {
		for range 20 {
			x, err := openAs(faults.NewCancelContext(t, left), dir, o)
			switch {
			case err == nil:
				opened = true
				x.Close()
			case errors.Is(err, context.Canceled):
				refused++
			default:
				t.Fatal(err)
			}
		}
	}
	path := filepath.Join(dir, "00000001.segment")
	data, err := os.ReadFile(path)
	must.Do(t, err)
	data[len(data)/2] ^= 1
	must.Do(t, os.WriteFile(path, data, 0o644))
	for range 40 {
		if _, err := openAs(t.Context(), dir, live.OpenOptions{Load: true, Verify: live.VerifyFast}); !errors.Is(err, store.ErrCorrupt) {
			t.Fatal(err)
		}
		refused++
	}
	if refused < 80 {
		t.Errorf("%d refused", refused)
	}
	const heapGrows = 128 << 20 // Go's heap may take this
	must.Eventually(t, "the address space is given back, and workers' threads have ended", func() bool {
		return addressSpace(t)-before <= heapGrows
	})
}

// addressSpace returns the number of mapped bytes.
func addressSpace(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile("/proc/self/statm")
	must.Do(t, err)
	pages, err := strconv.Atoi(strings.Fields(string(data))[0])
	must.Do(t, err)
	return pages * os.Getpagesize()
}
