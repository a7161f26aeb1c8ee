//go:build !purego

package asm

func deal(p *Piles, src []uint64, row uint64) (done, full int) {
	switch {
	case useAVX512:
		return dealAVX512(p, src, row)
	case useAVX2 && !slowExtract:
		return dealBMI2(p, src, row)
	}
	return dealGeneric(p, src, row)
}

//go:noescape
func dealAVX512(p *Piles, src []uint64, row uint64) (done, full int)

//go:noescape
func dealBMI2(p *Piles, src []uint64, row uint64) (done, full int)
