package parallel

import (
	"context"
	"runtime/pprof"
	"sync/atomic"
)

// A Stage is a part of the work of a search. Profiles of processor time can tell their samples
// apart by it: it is the label "stage" of goroutines, while [LabelStages] wants that.
type Stage uint8

// The stages, and their values as a label.
const (
	StagePermute Stage = iota // "permute": queries are permuted, and sorted
	StageLocate               // "locate": where in a table the leading bits of a probe are
	StageScan                 // "scan": keys are compared
	StageVerify               // "verify": keys that passed are made whole, and those dropped that another table finds
	StageNames                // "names": documents of a fingerprint, and their IDs
	stages
)

// labels has a context with the label of each stage, and one without labels behind them.
var labels = func() (list [stages + 1]context.Context) {
	list[stages] = context.Background()
	for i, name := range [stages]string{"permute", "locate", "scan", "verify", "names"} {
		list[i] = pprof.WithLabels(context.Background(), pprof.Labels("stage", name))
	}
	return list
}()

// labelling is how many want labels: profiles are of the process, and so is this.
var labelling atomic.Int32

// LabelStages has the stages of all searches labelled until stop is called, which may be called
// once. Labels replace those that a goroutine has, and stand until its next stage or the end of its
// search.
func LabelStages() (stop func()) {
	labelling.Add(1)
	return func() { labelling.Add(-1) }
}

// Begin labels the goroutine with the stage, if [LabelStages] wants that. That takes about 20 ns,
// and one where it does not.
func (s Stage) Begin() {
	if labelling.Load() > 0 {
		pprof.SetGoroutineLabels(labels[s])
	}
}

// EndStage takes the label of the stage off the goroutine.
func EndStage() { stages.Begin() }
