package asm

import "fmt"

// knownAnswer is one kernel's check against an answer that is written down, not
// computed by another kernel. It says nil or what was wrong.
type knownAnswer struct {
	kernel string
	check  func() error
}

// knownAnswers has a line for every kernel; each check stands beside the
// generic form of its kernel.
var knownAnswers = []knownAnswer{
	{"within64", checkWithin64},
	{"within32", checkWithin32},
	{"votes", checkVotes},
	{"planar", checkPlanar},
	{"interpolate", checkInterpolate},
	{"decode", checkDecode},
	{"seek", checkSeek},
	{"permute", checkPermute},
	{"countdigits", checkCountDigits},
	{"buckets", checkBuckets},
	{"leaves", checkLeaves},
	{"join", checkJoin},
	{"deal", checkDeal},
	{"halves", checkHalves},
	{"nearrows", checkNearRows},
}

// selfTest runs the kernels in use on inputs with known answers. It takes
// microseconds and belongs at the start of every process: a processor, an
// emulator or a build that computes wrongly should be found before it answers.
func selfTest() error {
	for _, k := range knownAnswers {
		if err := k.check(); err != nil {
			return fmt.Errorf("self-test of kernel %s on %s: %w", k.kernel, Kernel(), err)
		}
	}
	return nil
}
