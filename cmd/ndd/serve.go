package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/server"
	"ndd/engine"
	"ndd/engine/corpus/ingest"
	"ndd/engine/index/worker"
	"ndd/numa"
)

// expectedDocs is what a new index is designed for: it grows with what comes.
const expectedDocs = 1 << 20

// insertDocs documents are added to the index at a time while it is loaded.
const insertDocs = 512

func newServe(g *globals) *cobra.Command {
	s := &serving{g: g, options: server.Options{Version: buildVersion()}}
	cmd := &cobra.Command{
		Use:   "serve [-i INDEX] [--load INPUT...]",
		Short: "Answer queries and take documents over HTTP",
		Long: `Serve an index over HTTP: queries, batches of queries, and inserts. Without -i a
new index is served, empty or with the documents of --load.

Inserted and loaded documents are kept in memory only: they are lost when the
server stops. The folder of -i is read and never changed.

The server listens at once (GET /livez, GET /readyz) and prints one line when it
is ready, with a command to try. GET /openapi.json describes all endpoints:

  POST /v1/query             find what is near a fingerprint or a document
  POST /v1/batch             the same for many fingerprints (little-endian 64-bit)
  POST /v1/insert            add documents
  POST /v1/check-and-insert  add a document unless a near-duplicate is stored
  GET  /v1/stats             sizes

Only this machine can connect, unless --listen names another address. That needs
a token file, which only its owner may read: each line has a token and its role,
which is read, write or admin. SIGHUP reads the file again. An interrupt finishes
running requests and ends the server within 10 seconds; a second one ends it at
once.`,
		Example: `  ndd serve --load docs/
  ndd serve -i index --listen 0.0.0.0:7744 --token-file tokens
  curl -s http://127.0.0.1:7744/v1/query -d '{"text": "..."}'
  curl -s http://127.0.0.1:7744/v1/query -H 'Content-Type: text/html' --data-binary @new.html`,
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&s.dir, "index", "i", "", "index to serve (default: a new one, in memory)")
	f.StringArrayVar(&s.load, "load", nil, "documents to add at the start: file, glob, folder, or -; may be repeated, and further arguments count as more of them")
	f.BoolVar(&s.memoryOnly, "memory-only", false, "keep inserted documents in memory only (always so in this version)")
	s.design.register(cmd)
	s.docs.register(cmd, "format")
	s.spread.register(cmd)
	s.open.register(cmd)
	f.StringVar(&s.options.Listen, "listen", server.DefaultListen, "address to listen on")
	f.StringVar(&s.options.Admin, "admin", server.DefaultAdmin, "address to serve /metrics and /debug/pprof on, or off")
	f.BoolVar(&s.options.PProf, "pprof", false, "serve /debug/pprof on the admin address")
	f.StringVar(&s.options.TokenFile, "token-file", "", "file with lines 'TOKEN ROLE'; a role is read, write or admin")
	f.BoolVar(&s.options.InsecureNoAuth, "insecure-no-auth", false, "allow other machines to connect without a token")
	return cmd
}

// serving is one run of the server.
type serving struct {
	g          *globals
	options    server.Options
	dir        string
	open       openFlags
	load       []string
	memoryOnly bool
	design     designFlags
	docs       documentFlags
	spread     spreadFlags
	tables     *worker.Options // nil where they stay in the file
}

func (s *serving) run(cmd *cobra.Command, args []string) error {
	g := s.g
	if len(args) > 0 && !cmd.Flags().Changed("load") {
		return usagef("unexpected argument %q: to load documents, put --load before them", args[0])
	}
	s.load = append(s.load, args...)
	if s.dir != "" {
		for _, name := range []string{"distance", "tables", "design"} {
			if cmd.Flags().Changed(name) {
				return usagef("--%s applies only to a new index, without -i", name)
			}
		}
	} else if s.open.preload {
		return usagef("--preload applies only with -i INDEX")
	}
	o := s.options
	if o.Admin == "off" {
		o.Admin = ""
	}
	if err := o.Validate(); err != nil {
		return usagef("%w", err)
	}
	var err error
	if s.tables, err = s.spread.options(g); err != nil {
		return err
	}
	if s.dir != "" && s.tables == nil {
		g.log.Debug("memory nodes: " + numa.New(numa.Options{}).String() + ": the tables stay in their file")
	}
	o.Load = s.index
	o.Threads = g.threads
	o.Log = g.log
	o.Ready = flushed{g.stdout}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	o.Reload = hangups
	g.log.Info("inserted documents are kept in memory only and are lost when the server stops")
	return server.Run(cmd.Context(), o)
}

// index opens or makes the index and loads documents into it.
func (s *serving) index(ctx context.Context, l *server.Loading) (*engine.Index, error) {
	x, err := s.base(ctx, l)
	if err != nil || len(s.load) == 0 {
		return x, err
	}
	if err := s.loadInto(ctx, x, l); err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

func (s *serving) base(ctx context.Context, l *server.Loading) (*engine.Index, error) {
	if s.dir == "" {
		design, err := s.design.choose(expectedDocs)
		if err != nil {
			return nil, err
		}
		c, err := s.docs.config(s.g, nil)
		if err != nil {
			return nil, err
		}
		return engine.New(design.K, engine.Options{Design: &design, Recipe: &c.Recipe})
	}
	l.Stage("verifying the index")
	x, err := s.open.open(ctx, s.g, s.dir, s.tables)
	if err == nil {
		s.g.logSpread(x)
	}
	return x, err
}

// loadInto fingerprints documents and adds them.
func (s *serving) loadInto(ctx context.Context, x *engine.Index, l *server.Loading) error {
	recipe := x.Recipe()
	if recipe == nil {
		return fmt.Errorf("%w: %s was built from raw fingerprints, so it has no recipe for documents", engine.ErrMixed, s.dir)
	}
	c, err := s.docs.config(s.g, recipe)
	if err != nil {
		return err
	}
	l.Stage("reading documents")
	var waiting []engine.Doc
	flush := func() error {
		if len(waiting) == 0 {
			return nil
		}
		_, err := x.Insert(ctx, waiting...)
		for _, d := range waiting {
			l.Loaded(d.ID, d.Fingerprint)
		}
		waiting = waiting[:0]
		return err
	}
	err = s.g.ingest(ctx, s.load, c, func(r ingest.Record) error {
		if !r.OK {
			l.LeftOut()
			return nil
		}
		waiting = append(waiting, engine.Doc{Fingerprint: r.Fingerprint, ID: r.ID})
		if len(waiting) < insertDocs {
			return nil
		}
		return flush()
	})
	// What was skipped has been said; the rest can be served.
	if err != nil && !errors.Is(err, errPartly) {
		return err
	}
	return flush()
}

// flushed writes through a buffer at once: the ready line is waited for.
type flushed struct{ io.Writer }

func (w flushed) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if b, ok := w.Writer.(interface{ Flush() error }); ok && err == nil {
		err = b.Flush()
	}
	return n, err
}
