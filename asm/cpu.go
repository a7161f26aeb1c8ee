package asm

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

// envKernel is the environment variable that overrides the choice of backend.
const envKernel = "NDD_KERNEL"

// The backends.
const (
	Generic = "generic" // plain Go, on every machine
	AVX2    = "avx2"    // amd64 from Haswell and Zen on
	AVX512  = "avx512"  // amd64 from Ice Lake and Zen 4 on
	NEON    = "neon"    // arm64
)

// ErrKernel is wrapped by the error for a backend that does not exist or that this machine cannot run.
var ErrKernel = errors.New("kernel cannot be used")

// A backend lists the requirements of one backend.
type backend struct {
	name string
	arch string            // architecture of its assembly; "" for none
	uses []cpuid.FeatureID // every feature that one of its kernels executes
}

// backends lists every backend, best first. Only this list names CPU features. An instruction of another extension in
// a kernel requires an entry here. (TestFeaturesListed reads the assembly.)
//
// cpuid reports a vector extension only if the operating system saves its
// registers (XCR0), so OS support is part of the feature.
var backends = []backend{
	{AVX512, "amd64", []cpuid.FeatureID{
		cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL,
		cpuid.AVX512CD, cpuid.AVX512VBMI, cpuid.AVX512VBMI2, cpuid.AVX512VPOPCNTDQ, cpuid.AVX512BITALG,
		cpuid.AVX, cpuid.AVX2, cpuid.BMI1, cpuid.BMI2, cpuid.POPCNT,
	}},
	{AVX2, "amd64", []cpuid.FeatureID{
		cpuid.AVX, cpuid.AVX2, cpuid.BMI1, cpuid.BMI2, cpuid.POPCNT,
	}},
	{NEON, "arm64", []cpuid.FeatureID{cpuid.ASIMD}},
	{Generic, "", nil},
}

// served lists the backends that a machine can run, best first. It depends only on the compiled assembly ("amd64",
// "arm64", or "" for none) and on the machine's features.
func served(assembly string, has func(...cpuid.FeatureID) bool) []string {
	var names []string
	for _, b := range backends {
		if b.arch == "" || b.arch == assembly && has(b.uses...) {
			names = append(names, b.name)
		}
	}
	return names
}

var (
	inUse    string                         // the backend in use
	startErr = choose(os.Getenv(envKernel)) // error of the request of NDD_KERNEL; see Init
)

// choose selects the backend that the environment requests. If that is not possible, the generic backend stays in
// use, so that kernels are correct even without Init.
func choose(request string) error {
	use(Generic)
	if err := Select(request); err != nil {
		return fmt.Errorf("%s: %w", envKernel, err)
	}
	return nil
}

// Backends returns the names of the backends that this build can run on this machine, best first. The last one is
// always Generic.
func Backends() []string { return served(assembly, cpuid.CPU.Supports) }

// Backend returns the name of the backend in use.
func Backend() string { return inUse }

// Select selects the named backend. "" and "auto" select the best one of this machine. After an error, which wraps
// ErrKernel, nothing changes. It must not run concurrently with a kernel.
func Select(name string) error {
	usable := Backends()
	switch {
	case name == "" || name == "auto":
		use(usable[0])
	case slices.Contains(usable, name):
		use(name)
	case slices.ContainsFunc(backends, func(b backend) bool { return b.name == name }):
		return fmt.Errorf("kernel %q: %w: this machine and build serve %s", name, ErrKernel, strings.Join(usable, ", "))
	default:
		return fmt.Errorf("kernel %q: %w: no such kernel, there are auto, avx512, avx2, neon and generic", name, ErrKernel)
	}
	return nil
}

// Init selects the backend of the command line; "" leaves the choice to NDD_KERNEL and the machine. Then it checks
// its kernels with known answers. A program calls it once, before it uses a kernel. The error wraps ErrKernel, or
// names the kernel with a wrong answer.
func Init(name string) error {
	err := startErr
	if name != "" {
		err = Select(name)
	}
	if err != nil {
		return err
	}
	return selfTest()
}
