package asm

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// envRequire names backends, separated by commas, that a test run must use. A run on a machine without one of them
// fails, because it would test less than intended.
const envRequire = "NDD_REQUIRE_KERNEL"

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
				envRequire, name, strings.Join(Backends(), ", "))
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
	return Backends()
}

// eachKernel runs f once on every backend under test.
func eachKernel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	eachFuzzKernel(t, func(name string) {
		exercised[name]++
		t.Run("kernel="+name, f)
	})
}

// eachFuzzKernel calls f on every backend under test, for fuzz targets, which cannot have
// subtests.
func eachFuzzKernel(t *testing.T, f func(kernel string)) {
	t.Helper()
	defer use(Backend())
	for _, name := range kernelsToTest() {
		use(name)
		f(name)
	}
}

// assemblyOf is the text of all assembly files of an architecture.
func assemblyOf(t *testing.T, arch string) (text string) {
	t.Helper()
	files, err := filepath.Glob("*_" + arch + ".[sh]")
	if err != nil || len(files) < 5 {
		t.Fatalf("found the assembly files %q: %v", files, err)
	}
	for _, file := range files {
		part, err := os.ReadFile(file)
		must.Do(t, err)
		text += string(part)
	}
	return text
}

// TestKernelTable checks that for each backend with assembly, the table of kernels lists exactly the kernels that have
// assembly.
func TestKernelTable(t *testing.T) {
	source := map[string]string{"amd64": assemblyOf(t, "amd64"), "arm64": assemblyOf(t, "arm64")}
	suffixes := map[string]string{AVX512: "AVX512", AVX2: "AVX2", NEON: "NEON"}
	for _, b := range backends {
		for _, k := range kernels {
			has := strings.Contains(source[b.arch], "TEXT ·"+k.name+suffixes[b.name]+"(SB)")
			if b.arch == "amd64" {
				// Processors of both backends have BMI2, for general registers.
				has = has || strings.Contains(source[b.arch], "TEXT ·"+k.name+"BMI2(SB)")
			}
			if b.arch != "" && has != slices.Contains(k.backends, b.name) {
				t.Errorf("kernel %s, backend %s: there is assembly: %v; the table of kernels says %q", k.name, b.name, has,
					k.backends)
			}
		}
	}
}

func TestSelect(t *testing.T) {
	defer use(Backend())
	can := Backends()
	if can[len(can)-1] != Generic {
		t.Fatalf("Backends() = %q, want generic last", can)
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
		if Backend() != want {
			t.Errorf("after Select(%q): Backend() = %q, want %q", name, Backend(), want)
		}
	}
}
