//go:build purego || !amd64

package asm

func deal(p *Piles, src []uint64, row uint64) (done, full int) { return dealGeneric(p, src, row) }
