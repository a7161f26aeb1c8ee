package asm

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"ndd/engine/oracle/must"
)

// What the operating system saves of the registers: the low bits of XCR0.
const (
	saveSSE    = 0x03
	saveAVX    = 0x07
	saveAVX512 = 0xe7
)

// machine is a processor as its maker sells it, under an operating system or a
// hypervisor as it may be met, and the best backend that it can run.
type machine struct {
	name  string
	has   []cpuid.FeatureID
	xcr0  uint32
	wants string
}

func features(sets ...[]cpuid.FeatureID) []cpuid.FeatureID { return slices.Concat(sets...) }

func without(set []cpuid.FeatureID, gone ...cpuid.FeatureID) []cpuid.FeatureID {
	return slices.DeleteFunc(slices.Clone(set), func(f cpuid.FeatureID) bool { return slices.Contains(gone, f) })
}

// machines holds 44 of them, from makers' manuals.
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
		{"Nehalem", nehalem, saveSSE, Generic},
		{"Westmere", nehalem, saveSSE, Generic},
		{"Sandy Bridge", sandy, saveAVX, Generic},
		{"Ivy Bridge", sandy, saveAVX, Generic},
		{"Haswell", haswell, saveAVX, AVX2},
		{"Haswell Pentium, AVX and BMI fused off", without(haswell, cpuid.AVX, cpuid.AVX2, cpuid.BMI1, cpuid.BMI2),
			saveSSE, Generic},
		{"Haswell, system without XSAVE", haswell, 0, Generic},
		{"Haswell, system saves SSE only", haswell, saveSSE, Generic},
		{"Haswell, BMI2 masked", without(haswell, cpuid.BMI2), saveAVX, Generic},
		{"Haswell, BMI1 masked", without(haswell, cpuid.BMI1), saveAVX, Generic},
		{"Haswell, POPCNT and LZCNT masked", without(haswell, cpuid.POPCNT, cpuid.LZCNT), saveAVX, Generic},
		{"Broadwell", haswell, saveAVX, AVX2},
		{"Skylake", haswell, saveAVX, AVX2},
		{"Skylake server", skx, saveAVX512, AVX2},
		{"Cascade Lake", features(skx, set(cpuid.AVX512VNNI)), saveAVX512, AVX2},
		{"Cooper Lake", features(skx, set(cpuid.AVX512VNNI, cpuid.AVX512BF16)), saveAVX512, AVX2},
		{"Knights Landing", knl, saveAVX512, AVX2},
		{"Knights Mill", features(knl, set(cpuid.AVX512VPOPCNTDQ)), saveAVX512, AVX2},
		{"Cannon Lake", cannon, saveAVX512, AVX2},
		{"Ice Lake", ice, saveAVX512, AVX512},
		{"Ice Lake server", ice, saveAVX512, AVX512},
		{"Ice Lake, system saves AVX only", ice, saveAVX, AVX2},
		{"Ice Lake, system saves AVX and masks only", ice, 0x27, AVX2},
		{"Ice Lake, system saves SSE only", ice, saveSSE, Generic},
		{"Ice Lake, VPOPCNTDQ masked", without(ice, cpuid.AVX512VPOPCNTDQ), saveAVX512, AVX2},
		{"Ice Lake, VBMI2 masked", without(ice, cpuid.AVX512VBMI2), saveAVX512, AVX2},
		{"Ice Lake, BITALG masked", without(ice, cpuid.AVX512BITALG), saveAVX512, AVX2},
		{"Ice Lake, VL masked", without(ice, cpuid.AVX512VL), saveAVX512, AVX2},
		{"Ice Lake, BW masked", without(ice, cpuid.AVX512BW), saveAVX512, AVX2},
		{"Ice Lake, DQ masked", without(ice, cpuid.AVX512DQ), saveAVX512, AVX2},
		{"Ice Lake, BMI2 masked", without(ice, cpuid.BMI2), saveAVX512, Generic},
		{"Tiger Lake", ice, saveAVX512, AVX512},
		{"Rocket Lake", ice, saveAVX512, AVX512},
		{"Alder Lake", haswell, saveAVX, AVX2},
		{"Sapphire Rapids", sapphire, saveAVX512, AVX512},
		{"Silvermont", nehalem, saveSSE, Generic},
		{"Gracemont", haswell, saveAVX, AVX2},
		{"Bulldozer", sandy, saveAVX, Generic},
		{"Piledriver", features(sandy, set(cpuid.BMI1)), saveAVX, Generic},
		{"Excavator", excavator, saveAVX, AVX2},
		{"Jaguar", features(sandy, set(cpuid.BMI1, cpuid.LZCNT)), saveAVX, Generic},
		{"Zen", haswell, saveAVX, AVX2},
		{"Zen 4", features(ice, set(cpuid.AVX512BF16)), saveAVX512, AVX512},
	}
}

// supports is what a detection that knows CPUID and XCR0 reports.
func (m machine) supports(want ...cpuid.FeatureID) bool {
	for _, f := range want {
		var saved uint32 // what the extension needs of XCR0
		switch name := f.String(); {
		case strings.HasPrefix(name, "AVX512"):
			saved = 0xe6
		case strings.HasPrefix(name, "AVX"):
			saved = 0x06
		}
		if !slices.Contains(m.has, f) || m.xcr0&saved != saved {
			return false
		}
	}
	return true
}

func TestServed(t *testing.T) {
	for _, m := range machines() {
		if got := served("amd64", m.supports); got[0] != m.wants {
			t.Errorf("%s: %q, want %s first", m.name, got, m.wants)
		}
		for _, assembly := range []string{"", "arm64"} {
			if got := served(assembly, m.supports); !slices.Equal(got, []string{Generic}) {
				t.Errorf("%s: %q with the assembly of %q, want generic alone", m.name, got, assembly)
			}
		}
	}
	for _, c := range []struct {
		assembly string
		has      []cpuid.FeatureID
		want     []string
	}{
		{"arm64", []cpuid.FeatureID{cpuid.ASIMD, cpuid.FP}, []string{NEON, Generic}},
		{"arm64", []cpuid.FeatureID{cpuid.FP}, []string{Generic}},
		{"arm64", []cpuid.FeatureID{cpuid.ASIMD, cpuid.SVE}, []string{NEON, Generic}},
		{"amd64", []cpuid.FeatureID{cpuid.ASIMD}, []string{Generic}},
		{"", []cpuid.FeatureID{cpuid.ASIMD}, []string{Generic}},
	} {
		m := machine{has: c.has}
		if got := served(c.assembly, m.supports); !slices.Equal(got, c.want) {
			t.Errorf("%q with %v: %q, want %q", c.assembly, c.has, got, c.want)
		}
	}
}

// What an amd64 instruction needs: the extensions below by name, or by its family
// no more than what AVX2 and AVX-512F, BW and VL have between them. Whoever uses a
// new mnemonic says here where it belongs.
var (
	extensions = map[cpuid.FeatureID]string{
		cpuid.POPCNT:          "POPCNTL POPCNTQ",
		cpuid.LZCNT:           "LZCNTL LZCNTQ",
		cpuid.BMI1:            "TZCNTL TZCNTQ BLSRL BLSRQ ANDNL ANDNQ BEXTRL BEXTRQ",
		cpuid.BMI2:            "BZHIL BZHIQ PDEPQ PEXTQ SHLXQ SHRXQ SHLXL SHRXL RORXQ MULXQ",
		cpuid.AVX512VPOPCNTDQ: "VPOPCNTD VPOPCNTQ",
		cpuid.AVX512VBMI:      "VPERMB VPERMI2B VPMULTISHIFTQB",
		cpuid.AVX512VBMI2:     "VPSHRDQ VPSHLDQ VPSHRDVQ VPSHLDVQ VPCOMPRESSB VPCOMPRESSW VPEXPANDB VPEXPANDW",
		cpuid.AVX512BITALG:    "VPSHUFBITQMB VPOPCNTB VPOPCNTW",
		cpuid.AVX512CD:        "VPLZCNTD VPLZCNTQ VPCONFLICTD VPCONFLICTQ",
		cpuid.GFNI:            "VGF2P8AFFINEQB VGF2P8MULB",
		cpuid.AVX512DQ: "KMOVB KORTESTB KANDB KANDNB KORB KXORB KTESTW KXNORB " +
			"VPMOVQ2M VPMOVM2Q VPMOVD2M VPMOVM2D VCVTTPD2UQQ VCVTUQQ2PD VPMULLQ",
		cpuid.AVX512BW: "KMOVQ KMOVD KORTESTQ KORTESTD KSHIFTRQ KUNPCKDQ VPCMPUB VPCMPUW VPCMPB VPCMPW " +
			"VPTESTMW VPTESTNMB VPBLENDMB VPBLENDMW VMOVDQU8 VMOVDQU16 VPTESTMB VPMOVM2B VPMOVB2M",
	}
	vectorBase = regexp.MustCompile(`^(K(MOV|ORTEST|OR|AND|ANDN|XOR|NOT)W` +
		`|V(ADD|SUB|MUL|DIV|MAX|MIN|AND|ANDN|OR` +
		`|XOR|BLEND|BLENDV|CMP|MOVMSK|MOVA|MOVU|SHUF|PERMIL|UNPCK[LH]|SQRT|ROUND|BROADCASTS)P?[DS]` +
		`|VMOV(D|Q|DQA|DQU|DQA32|DQA64|DQU32|DQU64|NTDQ|NTDQA)|VSHUF[IF](32X4|64X2)|VALIGN[DQ]|VZEROUPPER|VPTEST` +
		`|V(EXTRACT|INSERT|BROADCAST)(I|F)(128|32X4|64X4)|VCVT(DQ2PD|TPD2DQ|PD2PS|PS2PD)` +
		`|VP(ADD|SUB|ADDS|SUBS|ADDUS|SUBUS|CMPEQ|CMPGT|ABS|SIGN|AVG` +
		`|SLL|SRL|SRA|SLLV|SRLV|SRAV|MAX[SU]|MIN[SU]|MULL|MULH|HADD|BROADCAST|BLENDM?|EXTR|INSR|ROL|ROR|ROLV|RORV)[BWDQ]` +
		`|VP(MOV[SZ]X[BWD][WDQ]|MOVQD|MOVDB|MOVQB|MOVMSKB|AND|ANDN|OR` +
		`|XOR|SADBW|SHUFB|SHUFD|S[LR]LDQ|ALIGNR|MADD(UBSW|WD)|MUL(UDQ|DQ))` +
		`|VP(AND|ANDN|OR|XOR|CMP|CMPU|COMPRESS|EXPAND|TERNLOG|TESTM|TESTNM)[DQ]|VP(ERM|ERMI2|ERMT2)[DQ]|VPERM2I128` +
		`|VP(ACK[SU]S(WB|DW)|UNPCK[LH](BW|WD|DQ|QDQ)|MASKMOV[DQ]|GATHER[DQ][DQ]|BLENDV[BDQ]))$`)
)

// The features listed for avx512 are exactly those that the assembly uses, as far
// as mnemonics tell.
func TestFeaturesListed(t *testing.T) {
	belongs := map[string]cpuid.FeatureID{}
	for f, mnemonics := range extensions {
		for _, m := range strings.Fields(mnemonics) {
			belongs[m] = f
		}
	}
	files, err := filepath.Glob("*_amd64.[sh]")
	if err != nil || len(files) < 5 {
		t.Fatalf("found the assembly files %q: %v", files, err)
	}
	instruction := regexp.MustCompile(`(?m)^\s+([A-Z][A-Z0-9]+)(?:\.[A-Z.]+)?\s`)
	used := map[cpuid.FeatureID]bool{cpuid.AVX512F: true, cpuid.AVX512VL: true, cpuid.AVX: true, cpuid.AVX2: true}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must.Do(t, err)
		for _, match := range instruction.FindAllStringSubmatch(string(text), -1) {
			mnemonic := match[1]
			f, known := belongs[mnemonic]
			if known {
				used[f] = true
			} else if (mnemonic[0] == 'V' || mnemonic[0] == 'K') && !vectorBase.MatchString(mnemonic) {
				t.Errorf("%s: this test does not know which extension %s belongs to", file, mnemonic)
			}
		}
	}
	for _, b := range backends {
		if b.arch != "amd64" {
			continue
		}
		for _, f := range b.uses {
			if !used[f] {
				t.Errorf("backend %s asks for %s, which no instruction needs", b.name, f)
			}
		}
		for f := range used {
			if b.name == AVX512 && !slices.Contains(b.uses, f) {
				t.Errorf("backend %s does not ask for %s, which an instruction needs", b.name, f)
			}
		}
	}
}
