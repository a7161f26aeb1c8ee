package cli

import (
	"github.com/pkg/profile"

	"ndd/engine/parallel"
)

var profiles = map[string]func(*profile.Profile){
	"cpu": profile.CPUProfile, "mem": profile.MemProfile, "allocs": profile.MemProfileAllocs,
	"block": profile.BlockProfile, "mutex": profile.MutexProfile, "goroutine": profile.GoroutineProfile,
	"thread": profile.ThreadcreationProfile, "clock": profile.ClockProfile, "trace": profile.TraceProfile,
}

func (g *Globals) beginProfile() error {
	if g.profile == "" {
		return nil
	}
	mode, ok := profiles[g.profile]
	if !ok {
		return Usagef("--profile %q: must be cpu, mem, allocs, block, mutex, goroutine, thread, clock or trace", g.profile)
	}
	p := profile.Start(mode, profile.ProfilePath("."), profile.NoShutdownHook, profile.Quiet)
	labelled := func() {}
	if g.profile == "cpu" || g.profile == "goroutine" {
		labelled = parallel.LabelStages()
	}
	g.stop = func() {
		p.Stop()
		labelled()
	}
	return nil
}
