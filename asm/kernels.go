package asm

import (
	"fmt"
	"slices"
)

// A KernelID names one of the kernels, for [Accelerated].
type KernelID uint8

// The kernels.
const (
	KernelWithin64 KernelID = iota
	KernelWithin32
	KernelVotes
	KernelWeightedVotes
	KernelPlanarLocate
	KernelPlanarScan
	KernelInterpolate
	KernelDecode
	KernelDecodeBlock
	KernelSeek
	KernelPermute
	KernelCountDigits
	KernelScatter
	KernelSortLeaves
	KernelJoin
	KernelScatterKeys
	KernelScatterHalves
	KernelFilter
	KernelNearRows
)

// kernel says of one kernel which backends have assembly for it, and how it is checked.
type kernel struct {
	name     string       // of the function that dispatches, and the beginning of its assembly's names
	backends []string     // that have assembly for it; the others run its generic form
	check    func() error // compares it with an answer that is written down; see selfTest
}

// everywhere are the backends that have assembly.
var everywhere = []string{AVX512, AVX2, NEON}

// amd64Only are those of amd64.
var amd64Only = []string{AVX512, AVX2}

// kernels is the table of all kernels. The dispatch_*.go files say the same as code.
var kernels = [...]kernel{
	KernelWithin64:      {"within64", everywhere, checkWithin64},
	KernelWithin32:      {"within32", everywhere, checkWithin32},
	KernelVotes:         {"votes", everywhere, checkVotes},
	KernelWeightedVotes: {"weightedVotes", everywhere, checkWeightedVotes},
	KernelPlanarLocate:  {"planarLocate", amd64Only, checkPlanarLocate},
	KernelPlanarScan:    {"planarScan", everywhere, checkPlanarScan},
	KernelInterpolate:   {"interpolate", everywhere, checkInterpolate},
	KernelDecode:        {"decode", everywhere, checkDecode},
	KernelDecodeBlock:   {"decodeBlock", []string{AVX512}, checkDecodeBlock},
	KernelSeek:          {"seek", []string{AVX512}, checkSeek},
	KernelPermute:       {"permute", everywhere, checkPermute},
	KernelCountDigits:   {"countDigits", amd64Only, checkCountDigits},
	KernelScatter:       {"scatter", amd64Only, checkScatter},
	KernelSortLeaves:    {"leaves", []string{AVX512}, checkLeaves},
	KernelJoin:          {"join", amd64Only, checkJoin},
	KernelScatterKeys:   {"scatterKeys", amd64Only, checkScatterKeys},
	KernelScatterHalves: {"scatterHalves", amd64Only, checkScatterHalves},
	KernelFilter:        {"filter", amd64Only, checkFilter},
	KernelNearRows:      {"nearRows", []string{AVX512}, checkNearRows},
}

// Accelerated reports whether the backend in use has assembly for a kernel. Where it has none, the kernel's generic
// form gives the same results, and another algorithm may be faster than that: callers that have one look here. The
// answer changes only with [Select].
func Accelerated(id KernelID) bool {
	return slices.Contains(kernels[id].backends, inUse)
}

// VectorBytes returns the width of the registers that the backend in use computes in: 64, 32 or 16 bytes, and 8 for
// the generic backend.
func VectorBytes() int {
	switch inUse {
	case AVX512:
		return 64
	case AVX2:
		return 32
	case NEON:
		return 16
	}
	return 8
}

// selfTest runs the kernels in use on inputs with known answers. It takes
// microseconds and belongs at the start of every process: a processor, an
// emulator or a build that computes wrongly should be found before it answers.
func selfTest() error {
	for _, k := range kernels {
		if err := k.check(); err != nil {
			return fmt.Errorf("self-test of kernel %s on %s: %w", k.name, Backend(), err)
		}
	}
	return nil
}
