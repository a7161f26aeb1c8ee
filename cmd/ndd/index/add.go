package index

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/plan"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/memory"
)

func (b *buildRun) addTo(ctx context.Context, files []*ndf.File, docs uint64) (err error) {
	g := b.g
	x, err := openToWrite(ctx, g, b.add, live.OpenOptions{OnConflict: b.conflict, TTL: time.Duration(b.ttl)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	before := x.Stats().Documents
	bar := g.Progress.NewBar("building", int64(len(x.Design().Tables)+1), cli.CountUnit)
	budget := memory.ForProgram(g.Machine.Limit(0))
	o := live.BuildOptions{NoIDs: b.choice.Request.IDs == plan.IDsRows,
		Options: segment.Options{Threads: g.Threads, Budget: budget}}
	o.Progress = func(_ string, part, _ int) { bar.Set(int64(part)) }
	o.Planned = func(p segment.Plan) { SayPlanned(g, budget)(docs, p.Bytes) }
	err = live.Unwrap(x).Add(ctx, files, o)
	bar.End()
	if err != nil {
		return fmt.Errorf("%s: %w", b.add, err)
	}
	after := x.Stats().Documents
	replaced := before + docs - after
	added := docs
	if b.conflict == rows.Keep {
		added -= replaced
	}
	g.Log.Info(fmt.Sprintf("%s: %s added%s, now %s", b.add, cli.Number(added, "document"), sayConflicts(replaced, b.conflict),
		cli.Number(after, "document")))
	return nil
}

// RegisterConflict adds the flag --on-conflict.
func RegisterConflict(cmd *cobra.Command, to *rows.OnConflict) {
	cli.ValueVar(cmd.Flags(), to, "on-conflict", "same ID: replace, keep the first, or error",
		[]string{"replace", "keep", "error"}, rows.Replace, rows.Keep, rows.Refuse)
}

// sayConflicts returns a text with the number of documents that were lost to another one with the same ID.
func sayConflicts(docs uint64, c rows.OnConflict) string {
	switch {
	case docs == 0:
		return ""
	case c == rows.Keep:
		return fmt.Sprintf(" (%s with an ID that was taken left out)", cli.Number(docs, "document"))
	}
	return fmt.Sprintf(" (%s replaced by one with the same ID)", cli.Number(docs, "document"))
}

// A TTL is the value of --ttl: the time to live of documents.
type TTL time.Duration

// RegisterTTL adds the flag --ttl.
func RegisterTTL(cmd *cobra.Command, ttl *TTL) {
	cmd.Flags().Var(ttl, "ttl", "time to keep new documents, such as 90d (default: forever)")
}

// String returns the default.
func (f *TTL) String() string { return "" }

// Type returns the name of the value in the help.
func (f *TTL) Type() string { return "time" }

// Set reads a time such as 90d.
func (f *TTL) Set(text string) error {
	ttl, err := cli.ParseTTL(text)
	*f = TTL(ttl)
	return err
}
