package live

import "ndd/engine/index/plan"

// A Choice is why an index has the tables that it has, as its manifest keeps it.
type Choice struct {
	Documents uint64       `json:"documents"`
	Distinct  uint64       `json:"distinct,omitempty"` // fingerprints, about, where they are fewer
	Memory    uint64       `json:"memory,omitempty"`   // bytes that were given
	Kernel    string       `json:"kernel"`             // with which was measured
	Sample    int          `json:"sample,omitempty"`   // fingerprints that the layouts were tried on
	Layouts   []plan.Trial `json:"layouts,omitempty"`  // how they did
	Why       []string     `json:"why"`                // sentences
}

// ChoiceOf returns what to keep of a plan.
func ChoiceOf(p *plan.Plan) *Choice {
	r := &p.Request
	c := &Choice{Documents: r.Fingerprints, Memory: r.Memory, Kernel: r.Machine.Kernel, Sample: p.TrialSample, Layouts: p.Trials, Why: p.Why}
	if r.Documents > r.Fingerprints {
		c.Documents, c.Distinct = r.Documents, r.Fingerprints
	}
	return c
}
