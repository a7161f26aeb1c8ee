package asm

import "slices"

// kernel lists which backends have assembly for it, and how it is checked.
type kernel struct {
	name     string         // of the function that dispatches, and the beginning of its assembly's names
	backends []string       // that have assembly for it; the others run its generic form
	run      func(*answers) // on input that is always the same; see selfTest
	sum      uint64         // of what it answers then
}

var (
	everywhere = []string{AVX512, AVX2, NEON}
	amd64Only  = []string{AVX512, AVX2}
	widest     = []string{AVX512}
)

// kernels is the table of all kernels. The dispatch_*.go files say the same as code.
var kernels = []kernel{
	{"within64", everywhere, runWithin64, 0x728a614e989940f9},
	{"within32", everywhere, runWithin32, 0x9a9c37a7f030f1eb},
	{"differ", everywhere, runDiffer, 0x4ca23d6766ec293b},
	{"weightedVotes", everywhere, runWeightedVotes, 0x473f192bd1b76174},
	{"planarLocate", amd64Only, runPlanarLocate, 0xc41ed6fe7bc39fee},
	{"planarScan", everywhere, runPlanarScan, 0xaba7e5519710c281},
	{"interpolate", everywhere, runInterpolate, 0xca8a72dac664f8d},
	{"decode", everywhere, runDecode, 0x9cd64aedb868199f},
	{"seek", widest, runSeeks, 0x93695412f0b68154},
	{"permute", everywhere, runPermute, 0xcdbddf9c7b578242},
	{"scatter", amd64Only, runScatter, 0x882469275f18bee7},
	{"leaves", widest, runSortLeaves, 0xae9121d4b60fc5fd},
	{"join", amd64Only, runJoin, 0xfcf707aa985a2b46},
	{"scatterHalves", amd64Only, runScatterHalves, 0x207029e45d291ae4},
	{"filter", amd64Only, runFilter, 0x330780a58e26d528},
	{"nearRows", widest, runNearRows, 0x3ae23e001623f71b},
}

// The kernels of which some backends have no assembly, and callers have another algorithm, for [Accelerated].
const (
	KernelSeek       = "seek"
	KernelSortLeaves = "leaves"
	KernelNearRows   = "nearRows"
)

// Accelerated reports whether the backend in use has assembly for a kernel. Where it has none, the kernel's generic
// form gives the same results, and another algorithm may be faster than that: callers that have one look here. The
// answer changes only with [Select].
func Accelerated(name string) bool {
	return slices.ContainsFunc(kernels, func(k kernel) bool {
		return k.name == name && slices.Contains(k.backends, inUse)
	})
}
