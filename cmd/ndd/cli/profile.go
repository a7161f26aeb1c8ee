package cli

import (
	"github.com/pkg/profile"
)

var profiles = map[string]func(*profile.Profile){
	"cpu": profile.CPUProfile, "mem": profile.MemProfile, "allocs": profile.MemProfileAllocs,
	"block": profile.BlockProfile, "mutex": profile.MutexProfile, "goroutine": profile.GoroutineProfile,
	"thread": profile.ThreadcreationProfile, "clock": profile.ClockProfile, "trace": profile.TraceProfile,
}

type profileRun struct {
	kind string // "" for none
	stop func() // nil before it has begun
}

func (p *profileRun) begin() error {
	if p.kind == "" {
		return nil
	}
	mode, ok := profiles[p.kind]
	if !ok {
		return Usagef("--profile %q: must be cpu, mem, allocs, block, mutex, goroutine, thread, clock or trace", p.kind)
	}
	running := profile.Start(mode, profile.ProfilePath("."), profile.NoShutdownHook, profile.Quiet)
	p.stop = running.Stop
	return nil
}

func (p *profileRun) end() {
	if p.stop != nil {
		p.stop()
	}
}
