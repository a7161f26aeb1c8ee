// Command pebble says how many records a second Pebble stores on this machine, for comparison with
// what bench insert says of an index: 64 callers, each with one record of 16 bytes at a time.
//
//	go run -C bench/pebble .
//
// It is a module of its own, so that nobody who builds ndd needs Pebble.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble"
)

const callers = 64

func main() {
	seconds := flag.Duration("time", 5*time.Second, "how long each way is measured")
	dir := flag.String("dir", "", "folder for the data (default: that for temporary files)")
	flag.Parse()
	for _, way := range []struct {
		name string
		how  *pebble.WriteOptions
	}{{"synced", pebble.Sync}, {"not synced", pebble.NoSync}} {
		rate, err := measure(*dir, *seconds, way.how)
		if err != nil {
			fmt.Fprintf(os.Stderr, "pebble, %s: %v\n", way.name, err)
			os.Exit(1)
		}
		fmt.Printf("Pebble, %d callers, 16-byte records, %s: %.1f k records/s\n", callers, way.name, rate/1e3)
	}
}

// quiet drops what Pebble logs.
type quiet struct{ pebble.Logger }

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}

// measure stores records of random keys of 8 bytes and values of 8 bytes for some time, and reads some back.
func measure(parent string, lasts time.Duration, how *pebble.WriteOptions) (rate float64, err error) {
	dir, err := os.MkdirTemp(parent, "pebble-*")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	db, err := pebble.Open(dir, &pebble.Options{Logger: quiet{pebble.DefaultLogger}})
	if err != nil {
		return 0, err
	}
	var stored atomic.Int64
	errs := make([]error, callers)
	began := time.Now()
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(caller), 1))
			var record [16]byte
			for errs[caller] == nil && time.Since(began) < lasts {
				binary.LittleEndian.PutUint64(record[:], rng.Uint64())
				binary.LittleEndian.PutUint64(record[8:], uint64(caller))
				errs[caller] = db.Set(record[:8], record[8:], how)
				stored.Add(1)
			}
		})
	}
	group.Wait()
	took := time.Since(began)
	for caller, err := range errs {
		if err == nil {
			err = stands(db, caller)
		}
		if err != nil {
			return 0, err
		}
	}
	return float64(stored.Load()) / took.Seconds(), db.Close()
}

// stands demands that the first record of a caller is there.
func stands(db *pebble.DB, caller int) error {
	var key [8]byte
	binary.LittleEndian.PutUint64(key[:], rand.New(rand.NewPCG(uint64(caller), 1)).Uint64())
	value, closer, err := db.Get(key[:])
	if err != nil {
		return err
	}
	defer closer.Close()
	if got := binary.LittleEndian.Uint64(value); got != uint64(caller) {
		return fmt.Errorf("the first record of caller %d has the value %d", caller, got)
	}
	return nil
}
