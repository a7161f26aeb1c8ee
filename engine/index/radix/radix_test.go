package radix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/permute"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// shapes returns inputs of all shapes that are difficult for a radix sort.
func shapes(n int) map[string][]uint64 {
	rng := rand.New(rand.NewPCG(uint64(n), 9))
	fill := func(f func(i int) uint64) []uint64 { return sets.Generate(n, f) }
	return map[string][]uint64{
		"random":     fill(func(int) uint64 { return rng.Uint64() }),
		"equal":      fill(func(int) uint64 { return 0xdeadbeef }),
		"ones":       fill(func(int) uint64 { return ^uint64(0) }),
		"ascending":  fill(func(i int) uint64 { return uint64(i) }),
		"descending": fill(func(i int) uint64 { return ^uint64(i) }),
		"few":        fill(func(int) uint64 { return rng.Uint64N(5) << 60 }),
		"prefix":     fill(func(int) uint64 { return 0xabcdef0123<<24 | rng.Uint64N(1<<24) }),
		"half equal": fill(func(i int) uint64 { return rng.Uint64() * uint64(i%2) }),
		"clusters":   fill(func(i int) uint64 { return uint64(i%7)<<61 | rng.Uint64N(300)<<20 | rng.Uint64N(3) }),
	}
}

// wanted returns the sorted keys of src, and the row of each.
func wanted(src []uint64, mask uint64) (keys []uint64, rows []uint32) {
	type pair struct {
		key uint64
		row uint32
	}
	p := permute.New(mask)
	all := make([]pair, len(src))
	for i, x := range src {
		all[i] = pair{p.Apply(x), uint32(i)}
	}
	slices.SortFunc(all, func(a, b pair) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.row, b.row)) })
	for _, x := range all {
		keys, rows = append(keys, x.key), append(rows, x.row)
	}
	return keys, rows
}

// TestKeysAndRows sorts inputs in several pieces. Half of the largest inputs is a heavy bucket, and several threads
// sort others.
func TestKeysAndRows(t *testing.T) {
	for _, n := range []int{0, 1, 2, leafMax, leafMax + 1, 1000, chunkKeys + 1, 30_000, long.Or(140_000, 200_000)} {
		for name, src := range shapes(n) {
			in := Chunks{src[:n/20], nil, src[n/20 : n/2], src[n/2:]}
			for _, mask := range []uint64{^uint64(0), 0x5555555555555555} {
				want, rows := wanted(src, mask)
				for _, threads := range []int{1, 3} {
					if n > 30_000 && (threads == 1 || mask == ^uint64(0)) {
						continue
					}
					t.Run(fmt.Sprintf("n=%d/%s/mask=%x/threads=%d", n, name, mask, threads), func(t *testing.T) {
						keys := make([]uint64, n)
						Keys(keys, src, mask, threads)
						sortsRows(t, in, mask, threads, want, rows)
						if !slices.Equal(keys, want) {
							t.Fatal("keys differ")
						}
					})
				}
			}
		}
	}
}

// sortsRows checks that SortRows returns the expected keys and rows.
func sortsRows(t *testing.T, in Chunks, mask uint64, threads int, want []uint64, wantRows []uint32) {
	t.Helper()
	keys, rows := make([]uint64, len(want)), make([]uint32, len(want))
	must.Do(t, SortRows(t.Context(), keys, rows, in, Options{Mask: mask, Threads: threads}))
	equalRows(t, keys, rows, want, wantRows)
}

// equalRows checks the keys and the row of each key.
func equalRows[R row](t *testing.T, keys []uint64, rows []R, want []uint64, wantRows []uint32) {
	t.Helper()
	if len(keys) != len(want) {
		t.Fatalf("%d keys, want %d", len(keys), len(want))
	}
	for i := range keys {
		if keys[i] != want[i] || uint64(rows[i]) != uint64(wantRows[i]) {
			t.Fatalf("key %d is %#x of row %d, want %#x of %d", i, keys[i], rows[i], want[i], wantRows[i])
		}
	}
}

// TestBucket sorts single buckets. The larger ones do not fit in the cache and are split, like buckets of billions
// of fingerprints.
func TestBucket(t *testing.T) {
	for _, n := range []int{leafMax + 1, cachedMax, cachedMax + 1, 3 * cachedMax} {
		for name, src := range shapes(n) {
			t.Run(fmt.Sprintf("n=%d/%s", n, name), func(t *testing.T) {
				want, wantRows := wanted(src, ^uint64(0))
				var w worker
				defer w.free()
				keys := slices.Clone(src)
				must.Do(t, w.sort(keys, 64))
				if !slices.Equal(keys, want) {
					t.Fatal("keys differ")
				}
				rows := make([]uint32, n)
				for i := range rows {
					rows[i] = uint32(i)
				}
				copy(keys, src)
				must.Do(t, sortRows(&w, keys, rows, 64)) // in parts: the positions do not fit in a word with 64 bits
				equalRows(t, keys, rows, want, wantRows)
			})
		}
	}
}

// TestWalk sorts with buffers of every size, from inputs in several pieces.
func TestWalk(t *testing.T) {
	const n, mask = 20_000, 0x5555555555555555
	for name, src := range shapes(n) {
		want, wantRows := wanted(src, mask)
		in := Chunks{src[:1], nil, src[1:9000], src[9000:9003], src[9003:]}
		for _, room := range []int{0, 1, 7, 1000, n - 1, n, 5 * n} {
			if room > 0 && room < 1000 && name != "equal" && name != "few" {
				continue // several passes over the input for each key
			}
			for _, threads := range []int{1, 2} {
				t.Run(fmt.Sprintf("%s/room=%d/threads=%d", name, room, threads), func(t *testing.T) {
					o := Options{Mask: mask, Threads: threads, Limit: room}
					var keys, rows []uint64
					err := WalkRows(t.Context(), in, o, func(k, r []uint64) error {
						if len(k) == 0 || room > 0 && len(k) > room {
							t.Fatalf("%d keys in a room of %d", len(k), room)
						}
						keys, rows = append(keys, k...), append(rows, r...)
						return nil
					})
					must.Do(t, err)
					equalRows(t, keys, rows, want, wantRows)
					keys = nil
					err = WalkKeys(t.Context(), in, o, func(k []uint64) error {
						keys = append(keys, k...)
						return nil
					})
					if err != nil || !slices.Equal(keys, want) {
						t.Fatalf("keys differ, %v", err)
					}
				})
			}
		}
	}
}

// TestDistinct checks that the buckets of every input cover the memory and the ranks, even if the callback
// overwrites their memory.
func TestDistinct(t *testing.T) {
	const mask = 0x5555555555555555
	for _, n := range []int{0, 1, 100, 30_000, long.Or(140_000, 200_000)} {
		for name, src := range shapes(n) {
			sorted, _ := wanted(src, mask)
			want := slices.Compact(sorted)
			for _, threads := range []int{1, 3} {
				if !long.Form() && n > 30_000 && threads == 1 {
					continue
				}
				t.Run(fmt.Sprintf("n=%d/%s/threads=%d", n, name, threads), func(t *testing.T) {
					memory, got := make([]uint64, n), make([]uint64, len(want))
					var mu sync.Mutex
					ends := map[int]int{n: n} // end of the memory of each bucket, by its start
					count, err := Distinct(t.Context(), memory, Chunks{src}, Options{Mask: mask, Threads: threads},
						func(b Bucket) error {
							copy(got[b.Rank:b.Rank+len(b.Keys)], b.Keys)
							if len(b.Keys) > len(b.Memory) || &b.Memory[0] != &memory[b.Offset] {
								t.Errorf("%d keys in a room of %d", len(b.Keys), len(b.Memory))
							}
							for i := range b.Memory {
								b.Memory[i] = ^uint64(0)
							}
							mu.Lock()
							defer mu.Unlock()
							ends[b.Offset] = b.Offset + len(b.Memory)
							return nil
						})
					if err != nil || count != len(want) || !slices.Equal(got, want) {
						t.Fatalf("%d keys, want %d, %v", count, len(want), err)
					}
					pos := 0
					for range ends {
						pos = ends[pos]
					}
					if pos != n {
						t.Fatal("rooms do not tile the memory")
					}
				})
			}
		}
	}
}

func TestDistinctInterrupted(t *testing.T) {
	src := shapes(300_000)["random"]
	stop := errors.New("enough")
	for _, threads := range []int{1, 4} {
		memory := make([]uint64, len(src))
		_, err := Distinct(t.Context(), memory, Chunks{src}, Options{Mask: 1, Threads: threads}, func(b Bucket) error {
			if b.Rank > len(src)/2 {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) {
			t.Errorf("%v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err = Distinct(ctx, memory, Chunks{src}, Options{Mask: 1, Threads: threads},
			func(b Bucket) error { cancel(); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}

func TestInterrupted(t *testing.T) {
	for name, src := range shapes(50_000) {
		t.Run(name, func(t *testing.T) {
			stop := errors.New("enough")
			calls := 0
			err := WalkKeys(t.Context(), Chunks{src}, Options{Mask: 1, Limit: 9000},
				func([]uint64) error { calls++; return stop })
			if !errors.Is(err, stop) || calls != 1 {
				t.Errorf("%v after %d calls", err, calls)
			}
			ctx, cancel := context.WithCancel(t.Context())
			calls = 0
			err = WalkRows(ctx, Chunks{src}, Options{Mask: 1, Limit: 9000, Threads: 2},
				func(_, _ []uint64) error { calls++; cancel(); return nil })
			if !errors.Is(err, context.Canceled) || calls != 1 {
				t.Errorf("%v after %d calls", err, calls)
			}
			if err := SortKeys(ctx, make([]uint64, len(src)), Chunks{src}, Options{Mask: 1, Threads: 2}); !errors.Is(err,
				context.Canceled) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestBuckets checks that any two keys with the same leading bits are together in a bucket of some call, whatever
// the memory. With memory for all keys, each key comes once.
func TestBuckets(t *testing.T) {
	filled := 0
	for _, n := range []int{0, 1, 100, 30_000, long.Or(140_000, 200_000)} {
		for name, src := range shapes(n) {
			for _, leading := range []int{1, 16, 21, 40, 64} {
				for _, room := range []int{n, n/2 + 1, n / 3, 1000} {
					if room > n || room < n && (n != 30_000 || leading != 16) {
						continue
					}
					for _, threads := range []int{1, 3} {
						if n > 30_000 && (leading != 21 || threads != 3) {
							continue // heavy buckets, once
						}
						if !long.Form() && n <= 30_000 && leading != 16 && leading != 40 {
							continue
						}
						test := fmt.Sprintf("n=%d/%s/leading=%d/room=%d/threads=%d", n, name, leading, room, threads)
						t.Run(test, func(t *testing.T) {
							all, largest := checkBuckets(t, src, leading, room, threads)
							if all > n {
								filled++
							}
							if name == "random" && room == n && leading > 20 && largest > 64 {
								t.Fatalf("a bucket of %d keys", largest)
							}
						})
					}
				}
			}
		}
	}
	if filled == 0 {
		t.Error("no bucket was larger than the room")
	}
}

// checkBuckets returns how many keys the buckets of src have, and the largest.
func checkBuckets(t *testing.T, src []uint64, leading, room, threads int) (all, largest int) {
	const mask = 0x5555555555555555
	want := map[uint64]int{}   // keys, and how often
	groups := map[uint64]int{} // different keys, by their leading bits
	p := permute.New(mask)
	maximum := 0
	for _, f := range src {
		key := p.Apply(f)
		if want[key]++; want[key] == 1 {
			groups[key>>(64-leading)]++
			maximum = max(maximum, groups[key>>(64-leading)])
		}
	}
	var mu sync.Mutex
	together := map[uint64]int{} // maximum number of distinct keys of a group in one bucket
	times := map[uint64]int{}    // maximum number of occurrences of a key in a bucket
	third := len(src) / 3
	o := Options{mask, threads, 0}
	err := Buckets(t.Context(), make([]uint64, room), Chunks{src[:third], src[third:]}, o, leading,
		func(keys []uint64, ends []uint32) error {
			mu.Lock()
			defer mu.Unlock()
			from := uint32(0)
			for _, to := range ends {
				seen, sizes := map[uint64]int{}, map[uint64]int{}
				for _, key := range keys[from:to] {
					group := key >> (64 - leading)
					if seen[key]++; seen[key] == 1 {
						sizes[group]++
						together[group] = max(together[group], sizes[group])
					}
					times[key] = max(times[key], seen[key])
				}
				largest = max(largest, int(to-from))
				from = to
			}
			if all += len(keys); int(from) != len(keys) {
				t.Errorf("buckets end at %d of %d keys", from, len(keys))
			}
			return nil
		})
	if errors.Is(err, ErrRoom) && maximum > room/2 {
		return 0, 0
	}
	if err != nil || all < len(src) || room == len(src) && all > room {
		t.Fatalf("%d keys, %v", all, err)
	}
	for group, size := range groups {
		if together[group] != size {
			t.Fatalf("%d keys of bucket %x are together, want %d", together[group], group, size)
		}
	}
	for key, n := range want {
		if times[key] != n && (room == len(src) || (times[key] > 1) != (n > 1)) {
			t.Fatalf("%x is there %d times, want %d", key, times[key], n)
		}
	}
	return all, largest
}

func BenchmarkKeys(b *testing.B) {
	for _, n := range []int{1e6, 1e7, 1e8} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("n=%d/threads=%d", n, threads), func(b *testing.B) {
				src, err := memory.Make[uint64](n)
				must.Do(b, err)
				defer src.Free()
				dst, err := memory.Make[uint64](n)
				must.Do(b, err)
				defer dst.Free()
				copy(src.Data, sets.Uniform(n, 9))
				for b.Loop() {
					Keys(dst.Data, src.Data, 0x5555555555555555, threads)
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mkeys/s")
				if !slices.IsSorted(dst.Data) {
					b.Fatal("not sorted")
				}
			})
		}
	}
}

// countedInput counts how many times it is read.
type countedInput struct {
	Chunks
	reads atomic.Int32
}

func (c *countedInput) Read(thread, threads int, f func([]uint64, int) error) error {
	if thread == 0 {
		c.reads.Add(1)
	}
	return c.Chunks.Read(thread, threads, f)
}

// TestRange checks that fingerprints with common leading bits are counted once more, and not read again for each
// bucket.
func TestRange(t *testing.T) {
	src := sets.Uniform(1<<20, 5)
	for i := range src {
		src[i] = src[i]>>5 | 0b10110<<59
	}
	in := &countedInput{Chunks: Chunks{src}}
	keys := make([]uint64, len(src))
	if err := SortKeys(t.Context(), keys, in, Options{Mask: ^uint64(0), Threads: 2}); err != nil {
		t.Fatal(err)
	}
	if slices.Sort(src); !slices.Equal(keys, src) {
		t.Error("keys differ")
	}
	if n := in.reads.Load(); n > 3 {
		t.Errorf("the input was read %d times", n)
	}
}
