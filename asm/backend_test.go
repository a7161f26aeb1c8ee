package asm

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// envRequire names backends, separated by commas, that a test run must have
// used: a run on a machine that cannot serve one of them fails instead of testing
// less than it was meant to.
const envRequire = "NDD_REQUIRE_KERNEL"

// long asks for the long forms of the proofs.
var long = flag.Bool("long", false, "run the long form of the proofs")

// exercised counts the tests that ran on each backend.
var exercised = map[string]int{}

func TestMain(m *testing.M) {
	flag.Parse()
	if err := Init(""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	code := m.Run()
	for name := range strings.SplitSeq(os.Getenv(envRequire), ",") {
		if name != "" && exercised[name] == 0 {
			fmt.Fprintf(os.Stderr, "%s: kernel %q was not used; this machine and build serve %s\n",
				envRequire, name, strings.Join(Kernels(), ", "))
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// kernelsToTest lists the backends that this run tests: the one in NDD_KERNEL, or
// all that the machine serves.
func kernelsToTest() []string {
	if name := os.Getenv(envKernel); name != "" && name != "auto" {
		return []string{name}
	}
	return Kernels()
}

// eachKernel runs f once on every backend under test.
func eachKernel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	before := Kernel()
	defer use(before)
	for _, name := range kernelsToTest() {
		use(name)
		exercised[name]++
		t.Run("kernel="+name, f)
	}
}

// eachFuzzKernel calls f on every backend under test, for fuzz targets, which cannot have
// subtests.
func eachFuzzKernel(t *testing.T, f func(kernel string)) {
	t.Helper()
	before := Kernel()
	defer use(before)
	for _, name := range kernelsToTest() {
		use(name)
		f(name)
	}
}

// TestBackendsWhole: every vector backend has assembly of its own for every kernel that it is said to have.
func TestBackendsWhole(t *testing.T) {
	source := map[string]string{}
	for _, arch := range []string{"amd64", "arm64"} {
		files, err := filepath.Glob("*_" + arch + ".s")
		if err != nil || len(files) < 5 {
			t.Fatalf("found the assembly files %q: %v", files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source[arch] += string(text)
		}
	}
	suffixes := map[string]string{AVX512: "AVX512", AVX2: "AVX2", NEON: "NEON"}
	for _, b := range backends {
		for _, kernel := range []string{"within64", "within32", "votes", "weightedVotes", "planarScan", "interpolate", "decode", "permute"} {
			symbol := kernel + suffixes[b.name]
			if symbol == "permuteAVX2" {
				symbol = "permuteBMI2" // of the same processors, on general registers
			}
			if b.arch != "" && !strings.Contains(source[b.arch], "TEXT ·"+symbol+"(SB)") {
				t.Errorf("backend %s has no %s", b.name, symbol)
			}
		}
	}
}

func TestSelect(t *testing.T) {
	defer use(Kernel())
	can := Kernels()
	if can[len(can)-1] != Generic {
		t.Fatalf("Kernels() = %q, want generic last", can)
	}
	for _, name := range []string{AVX512, AVX2, NEON, Generic, "", "auto", "avx", "AVX2", "sse"} {
		use(Generic)
		err := Select(name)
		want := name
		switch {
		case name == "" || name == "auto":
			want = can[0]
		case !slices.Contains(can, name):
			want = Generic
		}
		if (err == nil) != (slices.Contains(can, name) || name == "" || name == "auto") {
			t.Errorf("Select(%q) = %v with %q served", name, err, can)
		}
		if Kernel() != want {
			t.Errorf("after Select(%q): Kernel() = %q, want %q", name, Kernel(), want)
		}
	}
}
