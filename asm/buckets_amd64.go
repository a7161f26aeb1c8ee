//go:build !purego

package asm

// bucketsCombine says whether keys are collected in lines. The race detector sees only
// what Go writes.
func bucketsCombine() bool { return (useAVX512 || useAVX2) && !raceEnabled }

func bucketsScatter(b *Buckets, keys []uint64) (done int) {
	switch {
	case !bucketsCombine():
		return bucketsScatterGeneric(b, keys)
	case useAVX512:
		return bucketsScatterAVX512(b, keys, uint64(len(b.dst))+b.skew)
	}
	return bucketsScatterAVX2(b, keys, uint64(len(b.dst))+b.skew)
}

//go:noescape
func bucketsScatterAVX512(b *Buckets, keys []uint64, limit uint64) (done int)

//go:noescape
func bucketsScatterAVX2(b *Buckets, keys []uint64, limit uint64) (done int)

// bucketsFence orders lines that went past the caches before what other threads are told.
//
//go:noescape
func bucketsFence()
