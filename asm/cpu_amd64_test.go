package asm

import (
	"slices"
	"strings"
	"testing"
	_ "unsafe" // for go:linkname

	"github.com/klauspost/cpuid/v2"
)

// The instructions with which cpuid asks the processor. This test answers instead.

//go:linkname cpuidLeaf github.com/klauspost/cpuid/v2.cpuid
var cpuidLeaf func(leaf uint32) (eax, ebx, ecx, edx uint32)

//go:linkname cpuidSubleaf github.com/klauspost/cpuid/v2.cpuidex
var cpuidSubleaf func(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)

//go:linkname cpuidXCR0 github.com/klauspost/cpuid/v2.xgetbv
var cpuidXCR0 func(index uint32) (eax, edx uint32)

// Registers that the operating system saves: the low bits of XCR0.
const (
	saveSSE    = 0x03
	saveAVX    = 0x07
	saveAVX512 = 0xe7
)

// machine is a processor as it is sold, under a realistic operating system or hypervisor, and the best backend that it
// can run.
type machine struct {
	name  string
	has   []cpuid.FeatureID
	xcr0  uint32
	wants string
}

func features(sets ...[]cpuid.FeatureID) []cpuid.FeatureID { return slices.Concat(sets...) }

func removeFeatures(set []cpuid.FeatureID, removed ...cpuid.FeatureID) []cpuid.FeatureID {
	return slices.DeleteFunc(slices.Clone(set), func(f cpuid.FeatureID) bool { return slices.Contains(removed, f) })
}

// machines holds one of each kind, from makers' manuals.
func machines() []machine {
	set := func(f ...cpuid.FeatureID) []cpuid.FeatureID { return f }
	nehalem := set(cpuid.SSE42, cpuid.POPCNT)
	sandy := features(nehalem, set(cpuid.AVX))
	haswell := features(sandy, set(cpuid.AVX2, cpuid.BMI1, cpuid.BMI2, cpuid.LZCNT, cpuid.FMA3))
	knl := features(haswell, set(cpuid.AVX512F, cpuid.AVX512CD))
	skx := features(knl, set(cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL))
	cannon := features(skx, set(cpuid.AVX512IFMA, cpuid.AVX512VBMI))
	ice := features(cannon, set(cpuid.AVX512VBMI2, cpuid.AVX512VNNI, cpuid.AVX512BITALG, cpuid.AVX512VPOPCNTDQ,
		cpuid.GFNI))
	sapphire := features(ice, set(cpuid.AVX512BF16, cpuid.AVX512FP16))
	excavator := features(sandy, set(cpuid.AVX2, cpuid.BMI1, cpuid.BMI2, cpuid.LZCNT))
	return []machine{
		{"Core 2", nil, 0, Generic},
		{"Nehalem, Westmere, Silvermont", nehalem, saveSSE, Generic},
		{"Sandy Bridge, Ivy Bridge, Bulldozer", sandy, saveAVX, Generic},
		{"Haswell, Broadwell, Skylake, Alder Lake, Gracemont, Zen", haswell, saveAVX, AVX2},
		{"Haswell Pentium, AVX and BMI fused off", removeFeatures(haswell, cpuid.AVX, cpuid.AVX2, cpuid.BMI1, cpuid.BMI2),
			saveSSE, Generic},
		{"Haswell, system without XSAVE", haswell, 0, Generic},
		{"Haswell, system saves SSE only", haswell, saveSSE, Generic},
		{"Haswell, BMI2 masked", removeFeatures(haswell, cpuid.BMI2), saveAVX, Generic},
		{"Haswell, BMI1 masked", removeFeatures(haswell, cpuid.BMI1), saveAVX, Generic},
		{"Haswell, POPCNT and LZCNT masked", removeFeatures(haswell, cpuid.POPCNT, cpuid.LZCNT), saveAVX, Generic},
		{"Skylake server", skx, saveAVX512, AVX2},
		{"Cascade Lake", features(skx, set(cpuid.AVX512VNNI)), saveAVX512, AVX2},
		{"Knights Landing", knl, saveAVX512, AVX2},
		{"Knights Mill", features(knl, set(cpuid.AVX512VPOPCNTDQ)), saveAVX512, AVX2},
		{"Cannon Lake", cannon, saveAVX512, AVX2},
		{"Ice Lake, Tiger Lake, Rocket Lake", ice, saveAVX512, AVX512},
		{"Ice Lake, system saves AVX only", ice, saveAVX, AVX2},
		{"Ice Lake, system saves AVX and masks only", ice, 0x27, AVX2},
		{"Ice Lake, system saves SSE only", ice, saveSSE, Generic},
		{"Ice Lake, VPOPCNTDQ masked", removeFeatures(ice, cpuid.AVX512VPOPCNTDQ), saveAVX512, AVX2},
		{"Ice Lake, VBMI2 masked", removeFeatures(ice, cpuid.AVX512VBMI2), saveAVX512, AVX2},
		{"Ice Lake, BITALG masked", removeFeatures(ice, cpuid.AVX512BITALG), saveAVX512, AVX2},
		{"Ice Lake, VL masked", removeFeatures(ice, cpuid.AVX512VL), saveAVX512, AVX2},
		{"Ice Lake, BW masked", removeFeatures(ice, cpuid.AVX512BW), saveAVX512, AVX2},
		{"Ice Lake, DQ masked", removeFeatures(ice, cpuid.AVX512DQ), saveAVX512, AVX2},
		{"Ice Lake, BMI2 masked", removeFeatures(ice, cpuid.BMI2), saveAVX512, Generic},
		{"Sapphire Rapids", sapphire, saveAVX512, AVX512},
		{"Piledriver", features(sandy, set(cpuid.BMI1)), saveAVX, Generic},
		{"Excavator", excavator, saveAVX, AVX2},
		{"Jaguar", features(sandy, set(cpuid.BMI1, cpuid.LZCNT)), saveAVX, Generic},
		{"Zen 4", features(ice, set(cpuid.AVX512BF16)), saveAVX512, AVX512},
	}
}

// A place is the position at which CPUID reports a feature: a bit of a register of a leaf.
type place struct {
	leaf     uint32
	register int // 0 eax, 1 ebx, 2 ecx, 3 edx
	bit      uint
}

// places is from the Intel manual, volume 2A, CPUID, and AMD's, volume 3.
var places = map[cpuid.FeatureID]place{
	cpuid.FMA3:            {1, 2, 12},
	cpuid.SSE42:           {1, 2, 20},
	cpuid.POPCNT:          {1, 2, 23},
	cpuid.AVX:             {1, 2, 28},
	cpuid.BMI1:            {7, 1, 3},
	cpuid.AVX2:            {7, 1, 5},
	cpuid.BMI2:            {7, 1, 8},
	cpuid.AVX512F:         {7, 1, 16},
	cpuid.AVX512DQ:        {7, 1, 17},
	cpuid.AVX512IFMA:      {7, 1, 21},
	cpuid.AVX512CD:        {7, 1, 28},
	cpuid.AVX512BW:        {7, 1, 30},
	cpuid.AVX512VL:        {7, 1, 31},
	cpuid.AVX512VBMI:      {7, 2, 1},
	cpuid.AVX512VBMI2:     {7, 2, 6},
	cpuid.GFNI:            {7, 2, 8},
	cpuid.AVX512VNNI:      {7, 2, 11},
	cpuid.AVX512BITALG:    {7, 2, 12},
	cpuid.AVX512VPOPCNTDQ: {7, 2, 14},
	cpuid.AVX512FP16:      {7, 3, 23},
	cpuid.LZCNT:           {0x80000001, 2, 5},
}

// answer returns the answer of the machine's CPUID instruction.
func (m machine) answer(leaf uint32) (eax, ebx, ecx, edx uint32) {
	r := [4]uint32{}
	switch leaf {
	case 0: // highest leaf, "GenuineIntel"
		r = [4]uint32{7, 0x756e6547, 0x6c65746e, 0x49656e69}
	case 0x80000000:
		r[0] = 0x80000001
	case 1:
		if m.xcr0 != 0 {
			r[2] = 1<<26 | 1<<27 // XSAVE, OSXSAVE
		}
	}
	for _, f := range m.has {
		if p, ok := places[f]; ok && p.leaf == leaf {
			r[p.register] |= 1 << p.bit
		}
	}
	return r[0], r[1], r[2], r[3]
}

// TestServedByCPUID derives the backend from the bits of CPUID and XCR0.
func TestServedByCPUID(t *testing.T) {
	leaf, subleaf, xcr0 := cpuidLeaf, cpuidSubleaf, cpuidXCR0
	defer func() {
		cpuidLeaf, cpuidSubleaf, cpuidXCR0 = leaf, subleaf, xcr0
		cpuid.Detect()
	}()
	for _, m := range machines() {
		for _, f := range m.has {
			if _, ok := places[f]; !ok && !strings.HasSuffix(f.String(), "BF16") {
				t.Fatalf("%s: no place for %s", m.name, f)
			}
		}
		cpuidLeaf = m.answer
		cpuidSubleaf = func(leaf, sub uint32) (eax, ebx, ecx, edx uint32) {
			if sub != 0 {
				return 0, 0, 0, 0
			}
			return m.answer(leaf)
		}
		cpuidXCR0 = func(uint32) (eax, edx uint32) { return m.xcr0, 0 }
		cpuid.Detect()
		if got := served("amd64", cpuid.CPU.Supports); got[0] != m.wants {
			t.Errorf("%s: %q, want %s first", m.name, got, m.wants)
		}
	}
}
