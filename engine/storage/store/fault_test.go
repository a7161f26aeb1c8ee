//go:build unix

package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.org/ndd/asm"
	"example.org/ndd/engine/oracle/must"
)

var seen byte // keeps reads from being optimised away

// TestTruncatedWhileMapped truncates a mapped file while Go code and a kernel read it: this is an error, not a
// crash.
func TestTruncatedWhileMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	truncated := false
	for name, read := range map[string]func(b []byte){
		"go":     func(b []byte) { seen += b[len(b)-1] },
		"copy":   func(b []byte) { copy(make([]byte, len(b)), b) },
		"kernel": func(b []byte) { asm.Within64(make([]uint32, 64), Uint64s(b), ^uint64(0), 3) },
		"nested": func(b []byte) {
			var err error
			func() {
				defer EndFaults(BeginFaults(), &err)
				seen += b[len(b)-1]
			}()
			if errors.Is(err, ErrFault) != truncated {
				t.Errorf("nested: %v", err)
			}
			seen += b[len(b)-1] // the outer call is still active
		},
	} {
		t.Run(name, func(t *testing.T) {
			must.Do(t, os.WriteFile(path, make([]byte, 1<<20), 0o644))
			data, unmap := mapped(t, path)
			defer unmap()
			guarded := func() (err error) {
				defer EndFaults(BeginFaults(), &err)
				read(data)
				return nil
			}
			truncated = false
			if n := testing.AllocsPerRun(100, func() {
				func() (err error) {
					defer EndFaults(BeginFaults(), &err)
					return nil
				}()
			}); n != 0 {
				t.Errorf("EndFaults allocates %v times", n)
			}
			must.Do(t, guarded())
			must.Do(t, os.Truncate(path, 4096))
			truncated = true
			for range 100 {
				if err := guarded(); !errors.Is(err, ErrFault) || !errors.Is(err, ErrCorrupt) {
					t.Fatalf("no error: %v", err)
				}
			}
		})
	}
}

func TestOtherPanicsPass(t *testing.T) {
	must.Panic(t, "a programmer's error was swallowed", func() {
		var err error
		defer EndFaults(BeginFaults(), &err)
		var p *int
		seen = byte(*p)
	})
}

// mapped maps the file at path.
func mapped(t *testing.T, path string) (data []byte, unmap func() error) {
	t.Helper()
	file, err := os.Open(path)
	must.Do(t, err)
	defer file.Close()
	data, unmap, err = Map(file)
	must.Do(t, err)
	return data, unmap
}
