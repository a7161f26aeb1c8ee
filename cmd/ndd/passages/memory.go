package passages

import (
	"runtime/debug"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/memory"
)

// reserve returns the budget of --memory, and a reservation in it for the memory of reading. It sets the share of
// reading in config. The garbage collector keeps the total within the limit.
func reserve(g *cli.Files, docs *cli.DocumentFlags, limit string, config *ingest.Config) (*memory.Budget,
	*memory.Reservation, error) {
	budget, err := g.Budget(limit)
	if err != nil {
		return nil, nil, err
	}
	debug.SetMemoryLimit(int64(budget.Left()))
	*config = config.Fit(budget.Left() / 2)
	room, err := budget.Reserve("reading", config.NeedBytes())
	return budget, room, adviseLength(err, docs)
}

func adviseLength(err error, docs *cli.DocumentFlags) error {
	return memory.Advise(err, "a lower --max-document than "+docs.MaxDocument+" needs less")
}
