//go:build purego || !amd64

package asm

func bucketsCombine() bool { return false }

func bucketsScatter(b *Buckets, keys []uint64) (done int) { return bucketsScatterGeneric(b, keys) }

func bucketsFence() {}
