package asm

import "slices"

// A kernel describes the backends with assembly for one kernel, and its check.
type kernel struct {
	name     string         // name of the dispatching function, and prefix of the assembly's names
	backends []string       // backends with assembly; the others run the generic form
	run      func(*answers) // runs the kernel on a fixed input; see selfTest
	sum      uint64         // sum of its answers
}

var (
	everywhere = []string{AVX512, AVX2, NEON}
	amd64Only  = []string{AVX512, AVX2}
	widest     = []string{AVX512}
)

// kernels is the table of all kernels. The dispatch_*.go files have the same information as code.
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

// Kernels without assembly on some backends, for which callers have another algorithm; see [Accelerated].
const (
	KernelSeek       = "seek"
	KernelSortLeaves = "leaves"
	KernelNearRows   = "nearRows"
)

// Accelerated reports whether the backend in use has assembly for a kernel. Without it, the generic form gives the
// same results, but another algorithm may be faster. Only [Select] changes the answer.
func Accelerated(name string) bool {
	return slices.ContainsFunc(kernels, func(k kernel) bool {
		return k.name == name && slices.Contains(k.backends, inUse)
	})
}
