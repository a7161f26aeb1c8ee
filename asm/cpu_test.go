package asm

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/cpuid/v2"
)

// TestBestBackend checks that a machine runs the best backend that is compiled in and whose features it has.
func TestBestBackend(t *testing.T) {
	for _, c := range []struct {
		assembly string
		has      []cpuid.FeatureID
		want     []string
	}{
		{"arm64", []cpuid.FeatureID{cpuid.ASIMD, cpuid.FP}, []string{NEON, Generic}},
		{"arm64", []cpuid.FeatureID{cpuid.FP}, []string{Generic}},
		{"arm64", []cpuid.FeatureID{cpuid.ASIMD, cpuid.SVE}, []string{NEON, Generic}},
		{"arm64", backends[0].uses, []string{Generic}},
		{"amd64", backends[0].uses, []string{AVX512, AVX2, Generic}},
		{"amd64", []cpuid.FeatureID{cpuid.ASIMD}, []string{Generic}},
		{"", []cpuid.FeatureID{cpuid.ASIMD}, []string{Generic}},
	} {
		supports := func(want ...cpuid.FeatureID) bool {
			return !slices.ContainsFunc(want, func(f cpuid.FeatureID) bool { return !slices.Contains(c.has, f) })
		}
		if got := served(c.assembly, supports); !slices.Equal(got, c.want) {
			t.Errorf("%q with %v: %q, want %q", c.assembly, c.has, got, c.want)
		}
	}
}

// The extensions that each amd64 instruction needs. An instruction that is not listed needs at most AVX2 and AVX-512F,
// BW and VL. Add new mnemonics here.
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

// TestFeaturesListed checks that the features listed for avx512 are exactly those of the instructions in the assembly.
func TestFeaturesListed(t *testing.T) {
	belongs := map[string]cpuid.FeatureID{}
	for f, mnemonics := range extensions {
		for _, m := range strings.Fields(mnemonics) {
			belongs[m] = f
		}
	}
	instruction := regexp.MustCompile(`(?m)^\s+([A-Z][A-Z0-9]+)(?:\.[A-Z.]+)?\s`)
	used := map[cpuid.FeatureID]bool{cpuid.AVX512F: true, cpuid.AVX512VL: true, cpuid.AVX: true, cpuid.AVX2: true}
	for _, match := range instruction.FindAllStringSubmatch(assemblyOf(t, "amd64"), -1) {
		mnemonic := match[1]
		f, known := belongs[mnemonic]
		if known {
			used[f] = true
		} else if (mnemonic[0] == 'V' || mnemonic[0] == 'K') && !vectorBase.MatchString(mnemonic) {
			t.Errorf("this test does not know which extension %s belongs to", mnemonic)
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
