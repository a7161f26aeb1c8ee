package mapreduce

import (
	"fmt"
	"math"

	"ndd/engine/memory"
	"ndd/engine/near/scan"
	"ndd/permute"
)

// A Cluster describes machines and a framework, as far as the model of a job depends on them.
type Cluster struct {
	Nodes       int
	Slots       int     // tasks that run at a time on a node
	Memory      uint64  // of a task
	ReadBytes   float64 // a second, that a task reads from disk or network
	ShuffleRate float64 // bytes a second that a node sends, or takes
	JobStart    float64 // seconds that a job takes that does nothing
	TaskStart   float64 // seconds that a task takes that does nothing
}

// Tasks returns how many tasks run at a time.
func (c *Cluster) Tasks() int { return c.Nodes * c.Slots }

// chunkPrints are the fingerprints of a chunk of F: the paper's 64 MiB.
const chunkPrints = 8 << 20

// A ScanEstimate is what the job scan should take.
type ScanEstimate struct {
	Chunks    uint64  `json:"chunks"`
	Waves     uint64  `json:"waves"`      // of maps, one chunk each
	Passes    int     `json:"passes"`     // jobs, each with a part of Q, where the tables of all do not fit a task
	TaskBytes uint64  `json:"task_bytes"` // memory of a map
	Read      uint64  `json:"read"`       // bytes of F
	SideFile  uint64  `json:"side_file"`  // bytes of Q that are copied to the nodes
	Shuffle   uint64  `json:"shuffle"`    // bytes of hits
	Seconds   float64 `json:"seconds"`
	Work      float64 `json:"work"`   // of them: the maps read and compare
	Single    float64 `json:"single"` // seconds of one machine with one node's slots, without a framework
}

const (
	hitBytes = hitDigits + partDigits + 2 + 16 // with an ID of 16 bytes
	// taskPrograms is what a task takes beside its plan: fingerprints that are read ahead, and the program.
	taskPrograms = aheadBytes + memory.Program
)

// EstimateScan returns what scanning n fingerprints should take, for so many queries with so many hits each. Times of
// reading and comparing are added up, though a map that gets raw fingerprints reads on while it compares. The error is a memory.TooLargeError if a task has no room for any
// queries.
func EstimateScan(n uint64, k, queries int, hits float64, c Cluster) (e ScanEstimate, err error) {
	e.Chunks = max(1, (n+chunkPrints-1)/chunkPrints)
	part := queries
	for e.Passes = 1; ; e.Passes++ {
		part = (queries + e.Passes - 1) / e.Passes
		o := scan.Options{Threads: 1, Once: true, Budget: memory.NewBudget(memory.Set(c.Memory - min(c.Memory, taskPrograms)))}
		var p scan.Plan
		if p, err = scan.NewPlan(part, k, false, o); err == nil {
			e.TaskBytes = p.Bytes() + taskPrograms
			break
		}
		if part <= 1<<10 {
			return e, memory.NewBudget(memory.Set(c.Memory)).Check(fmt.Sprintf("a map with %d queries", part), p.Bytes()+taskPrograms)
		}
	}
	each := min(n, chunkPrints)
	e.Waves = (e.Chunks + uint64(c.Tasks()) - 1) / uint64(c.Tasks()) * uint64(e.Passes)
	e.Read = 8 * n * uint64(e.Passes)
	e.SideFile = 8 * uint64(queries) * uint64(c.Nodes)
	e.Shuffle = uint64(float64(queries)*hits) * hitBytes
	scanNS := scan.CostNS(part, k, each)
	e.Work = float64(e.Waves) * (c.TaskStart + float64(8*part)/c.ReadBytes + float64(each)*(8/c.ReadBytes+scanNS/1e9))
	e.Seconds = float64(e.Passes)*c.JobStart + e.Work + float64(e.Shuffle)/float64(c.Nodes)/c.ShuffleRate
	e.Single = float64(n) * (8/c.ReadBytes + scan.CostNS(queries, k, n)/1e9) / float64(c.Slots)
	return e, nil
}

// A PairsEstimate is what the job pairs should take.
type PairsEstimate struct {
	Design     string  `json:"design"`
	Tables     int     `json:"tables"`
	Bits       int     `json:"bits"`       // that a group shares
	Group      uint64  `json:"group"`      // fingerprints of one, if they are uniform
	TaskBytes  uint64  `json:"task_bytes"` // memory of a reduce
	Shuffle    uint64  `json:"shuffle"`    // bytes
	Compressed uint64  `json:"compressed"` // bytes, if the shuffle is compressed by DEFLATE
	Entropy    uint64  `json:"entropy"`    // bytes, of sets of a map's fingerprints, a table each
	Seconds    float64 `json:"seconds"`
}

const (
	sortNS = 12.0 // a fingerprint and table: permuting, sorting and coding it
	joinNS = 90.0 // a fingerprint and table: decoding it, and the join of its group
)

// EstimatePairs returns what finding all pairs of n uniform fingerprints should take: the design with the fewest tables of which
// a group fits a task. The error is a memory.TooLargeError if there is none.
func EstimatePairs(n uint64, k int, c Cluster) (e PairsEstimate, err error) {
	room := c.Memory - min(c.Memory, memory.Program)
	for _, d := range permute.Catalogue(k, designSeed) {
		if !exact(&d) {
			continue
		}
		least, _ := d.Leading()
		bits := min(least, 24)
		for bits > groupBitsDefault && joinBytes*(n>>(bits-1)) <= room {
			bits--
		}
		e = PairsEstimate{Design: d.Name, Tables: len(d.Tables), Bits: bits, Group: n >> bits}
		if e.TaskBytes = joinBytes*e.Group + memory.Program; e.TaskBytes <= c.Memory {
			e.fill(n, c)
			return e, nil
		}
	}
	return e, memory.NewBudget(memory.Set(c.Memory)).Check(fmt.Sprintf("joining a group of %d fingerprints", e.Group), e.TaskBytes)
}

// fill estimates bytes and time.
func (e *PairsEstimate) fill(n uint64, c Cluster) {
	of := float64(min(n, sendPrints)) // a map's, that are coded together
	entropy := 64 - math.Log2(of) + math.Log2(math.E)
	coded := entropy + 0.1
	blocks := math.Max(1, math.Min(of, math.Exp2(float64(e.Bits))))
	overhead := float64(partDigits+1+(e.Bits+5)/6+2+5) * blocks / of
	all := float64(n) * float64(e.Tables)
	e.Entropy = uint64(all * entropy / 8)
	e.Shuffle = uint64(all * (coded/6 + overhead))
	e.Compressed = uint64(all * (coded/8*1.02 + overhead))
	tasks := float64(c.Tasks())
	read := float64(n) * 8 / c.ReadBytes / tasks
	e.Seconds = c.JobStart + 2*c.TaskStart + read + all*(sortNS+joinNS)/1e9/tasks + float64(e.Shuffle)/float64(c.Nodes)/c.ShuffleRate
}
