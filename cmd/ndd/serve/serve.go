package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/cmd/ndd/design"
	"ndd/cmd/ndd/index"
	"ndd/cmd/ndd/server"
	"ndd/engine"
	"ndd/engine/copies"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/worker"
	"ndd/engine/memory"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/wal"
	"ndd/numa"
)

// expectedDocs is what a new index is designed for: it grows with what comes.
const expectedDocs = 1 << 20

// insertDocs documents are added to the index at a time while it is loaded.
const insertDocs = 512

func newServe(g *cli.Globals) *cobra.Command {
	s := &serving{g: g, options: server.Options{Version: g.Version}}
	cmd := &cobra.Command{
		Use:   "serve [-i INDEX] [--load INPUT...]",
		Short: "Answer queries and take documents over HTTP",
		Long: `Serve an index over HTTP: queries, batches of queries, inserts and deletions.

Inserted, loaded and deleted documents are durable: a request is answered when its
change is in a log in the folder of -i, and the log on the disk, so that neither the
end of the process nor a power cut takes it back. Without -i the folder is ./ndd-data,
which is made if it is not there; --create makes that of -i. --sync says how often the
disk is waited for. One server at a time can serve a folder.

With --ttl a document is found for so long after it was added, also after a restart,
and then dropped; documents that were there before are kept.

With --memory-only nothing is written: the folder of -i is read and not changed, or a
new index is served, and what was inserted is gone when the server stops.

The server listens at once (GET /livez, GET /readyz) and prints one line when it
is ready, with a command to try. A browser shows the index at / and the reference of
all endpoints at /docs; GET /openapi.json describes them for programs; 'ndd help
crawler' has programs to copy, 'ndd help operations' sizes, backup and what to watch:

  POST /v1/query             find what is near a fingerprint or a document
  POST /v1/batch             the same for many fingerprints (little-endian 64-bit)
  POST /v1/compare           compare two fingerprints or documents
  POST /v1/insert            add documents
  POST /v1/check-and-insert  add a document unless a near-duplicate is stored
  POST /v1/delete            delete documents by id or by fingerprint
  POST /v1/copies            find revised pages, excerpts and digests (with --copies)
  POST /v1/backup            back the index up (with --backup-dir; role admin)
  GET  /v1/stats             sizes

Bodies are JSON; a document alone can be sent as it is, too, with ?id=ID and the
Content-Type text/html or text/plain.

Only this machine can connect, unless --listen names another address. That needs
a token file, which only its owner may read: each line has a token and its role,
which is read, write or admin. With --tls-client-ca clients need a certificate, and a
line 'cn:NAME ROLE' gives the role to the certificate of that common name, without a
token.
SIGHUP reads tokens and certificates again, and opens the access log and the index of
--copies again, as it is then. An interrupt finishes running requests and ends the server
within 10 seconds; a second one ends it at once.

Damage to the index's files is looked for in the background (--scrub). Once it is found,
by that or by a query, nothing is answered any more: 503, and GET /readyz says why.

The --max flags, --request-memory and --timeout bound what clients may have. What is beyond
is refused with 413 or 429, and the answer names the flag.`,
		Example: `  ndd serve --load docs/
  ndd serve -i index --listen 0.0.0.0:7744 --token-file tokens
  curl -s http://127.0.0.1:7744/v1/query -d '{"text": "..."}'
  curl -s http://127.0.0.1:7744/v1/query -H 'Content-Type: text/html' --data-binary @new.html`,
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&s.dir, "index", "i", "", "index to serve (default: ./ndd-data, made if it does not exist)")
	f.BoolVar(&s.mayCreate, "create", false, "make the index of -i if there is nothing at that path")
	f.StringArrayVar(&s.load, "load", nil, "documents to add at the start: file, glob, folder, or -; may be repeated, and further arguments count as more of them")
	f.BoolVar(&s.options.ShowFiles, "show-files", false, "show who may read what a text has that a file of --load has not: /v1/compare and the page at / take the ids of such files, and of no others")
	f.BoolVar(&s.memoryOnly, "memory-only", false, "write nothing to disk: inserted documents are lost when the server stops")
	f.StringVar(&s.sync, "sync", "always", "when inserts are durable against a power cut: always (before the answer), interval=DURATION, or never (when the system writes them)")
	index.RegisterConflict(cmd, &s.onConflict)
	index.RegisterTTL(cmd, &s.ttl)
	f.StringVar(&s.memory, "memory", "", "memory for inserted documents until they are in files, and for merging those, such as 2GiB (default: what is available); mapped files do not count")
	s.ratio.Register(f, ": such documents are not near (an index that exists must have been built with --lengths)")
	s.design.Register(cmd)
	s.docs.Register(cmd, "format")
	s.spread.Register(cmd)
	s.open.Register(cmd)
	f.StringVar(&s.options.Listen, "listen", server.DefaultListen, "address to listen on")
	f.StringVar(&s.options.Admin, "admin", server.DefaultAdmin, "address to serve /metrics and /debug/pprof on, or off")
	f.BoolVar(&s.options.PProf, "pprof", false, "serve /debug/pprof on the admin address")
	f.DurationVar(&s.options.Scrub, "scrub", 24*time.Hour, "check all blocks of the index's files in the background, each time in so long; 0 for never")
	registerLimits(f, &s.options.Limits)
	f.StringVar(&s.copies, "copies", "", "index of 'ndd copies build' to answer /v1/copies with")
	f.StringVar(&s.options.Backups, "backup-dir", "", "folder in which POST /v1/backup {\"name\": NAME} makes backups (hard links where it is on the file system of -i)")
	f.StringVar(&s.options.TokenFile, "token-file", "", "file with lines 'TOKEN ROLE', for its owner alone to read: a token has 16 characters or more, a role is read, write or admin")
	f.StringVar(&s.options.TLSCert, "tls-cert", "", "certificate chain (PEM) for https on --listen, and on --admin where that is no loopback address")
	f.StringVar(&s.options.TLSKey, "tls-key", "", "key (PEM) of --tls-cert")
	f.StringVar(&s.options.TLSClientCA, "tls-client-ca", "", "certificates (PEM) of authorities: clients need a certificate that one of them has signed")
	f.BoolVar(&s.printUnit, "print-unit", false, "print a systemd unit that runs the server with these flags, and end")
	f.StringVar(&s.options.AccessLog, "access-log", "", "file that gets a line of JSON for each request; - is standard error")
	f.BoolVar(&s.options.InsecureNoAuth, "insecure-no-auth", false, "allow other machines to connect without a token")
	return cmd
}

// serving is one run of the server.
type serving struct {
	g          *cli.Globals
	options    server.Options
	dir        string
	open       index.OpenFlags
	load       []string
	memoryOnly bool
	sync       string
	onConflict string
	ttl        index.TTL
	memory     string
	ratio      cli.LengthRatio
	create     bool // dir does not exist and is made
	printUnit  bool
	copies     string // index to find copies in
	mayCreate  bool   // it is not an error that there is no index
	how        engine.OpenOptions
	design     design.Flags
	docs       cli.DocumentFlags
	spread     index.SpreadFlags
	tables     *worker.Options // nil where they stay in the file
}

func (s *serving) run(cmd *cobra.Command, args []string) error {
	if err := refuseZero(cmd.Flags()); err != nil {
		return err
	}
	g := s.g
	if len(args) > 0 && !cmd.Flags().Changed("load") {
		return cli.Usagef("unexpected argument %q: to load documents, put --load before them", args[0])
	}
	s.load = append(s.load, args...)
	if s.printUnit {
		program, err := os.Executable()
		if err != nil {
			return err
		}
		return s.writeUnit(g.Stdout, program, g.Args)
	}
	if err := s.place(cmd); err != nil {
		return err
	}
	o := s.options
	if o.Admin == "off" {
		o.Admin = ""
	}
	if err := o.Validate(); err != nil {
		return cli.Usagef("%w", err)
	}
	var err error
	if s.tables, err = s.spread.Options(g); err != nil {
		return err
	}
	if s.dir != "" && s.tables == nil {
		g.Log.Debug("memory nodes: " + numa.New(numa.Options{}).String() + ": the tables stay in their file")
	}
	o.Load, o.Budget, o.Folder = s.index, s.how.Budget, s.dir
	o.Threads = g.Threads
	o.Log = g.Log
	o.Ready = flushed{g.Stdout}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	o.Reload = hangups
	if s.memoryOnly {
		g.Log.Info("inserted documents are kept in memory only and are lost when the server stops")
	}
	if err := underSystemd(&o); err != nil {
		return err
	}
	if s.copies != "" {
		o.Copies = func(ctx context.Context) (*copies.Index, error) {
			return copies.OpenIndex(ctx, s.copies, max(g.Threads, 1))
		}
	}
	return server.Run(cmd.Context(), o)
}

// defaultDir is the folder of an index that is served without -i.
const defaultDir = "ndd-data"

// place decides which folder is served, if any, and refuses flags that do not go together.
func (s *serving) place(cmd *cobra.Command) (err error) {
	if s.how.Sync, err = wal.ParseSync(s.sync); err != nil {
		return cli.Usagef("--sync: %w", err)
	}
	if s.how.OnConflict, err = index.ParseConflict(s.onConflict); err != nil {
		return err
	}
	s.how.TTL = time.Duration(s.ttl)
	limit, err := cli.ParseMemory(s.memory)
	if err != nil {
		return err
	}
	s.how.Budget = memory.ForProgram(s.g.Machine.Limit(limit))
	if err := s.ratio.Check(); err != nil {
		return err
	}
	s.how.MaxLengthRatio = float64(s.ratio)
	s.how.Write, s.how.Disk = !s.memoryOnly, s.g.Disk
	s.how.Planned = index.SayPlanned(s.g, s.how.Budget)
	if s.how.Disk == nil {
		s.options.Disk = server.NewDiskFigures()
		s.how.Disk = disk.Hooked(s.options.Disk)
	}
	if s.memoryOnly && cmd.Flags().Changed("sync") {
		return cli.Usagef("--sync applies only without --memory-only")
	}
	if s.mayCreate && s.memoryOnly {
		return cli.Usagef("--create applies only without --memory-only")
	}
	if s.dir == "" && !s.memoryOnly {
		s.dir, s.mayCreate = defaultDir, true
	}
	if err := s.placeBackups(); err != nil {
		return err
	}
	if s.mayCreate {
		_, err := os.Lstat(s.dir)
		s.create = errors.Is(err, fs.ErrNotExist)
	}
	if s.dir != "" && !s.create {
		for _, name := range []string{"distance", "tables", "design"} {
			if cmd.Flags().Changed(name) {
				return cli.Usagef("--%s applies only to a new index, and %s is one already", name, s.dir)
			}
		}
	} else if s.open.Preload {
		return cli.Usagef("--preload applies only with -i INDEX")
	}
	return nil
}

// placeBackups refuses a folder in which no backups can be made.
func (s *serving) placeBackups() error {
	if s.options.Backups == "" {
		return nil
	}
	if s.memoryOnly {
		return cli.Usagef("--backup-dir applies only without --memory-only")
	}
	info, err := os.Stat(s.options.Backups)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: not a folder", s.options.Backups)
	}
	if err != nil {
		return cli.Usagef("--backup-dir: %w", err)
	}
	if index, err := os.Stat(s.dir); err == nil && os.SameFile(index, info) {
		return cli.Usagef("--backup-dir %s: is the index itself: name a folder beside it", s.options.Backups)
	}
	return nil
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

// base opens the index, or makes a new one.
func (s *serving) base(ctx context.Context, l *server.Loading) (*engine.Index, error) {
	if s.dir == "" || s.create {
		x, err := s.fresh(ctx)
		if x != nil || err != nil {
			return x, err
		}
	}
	l.Stage("verifying the index")
	s.how.Spread = s.tables
	x, err := s.open.Open(ctx, s.g, s.dir, s.how)
	if err != nil {
		return nil, err
	}
	index.LogSpread(s.g, x)
	if !s.memoryOnly {
		s.g.Log.Info(fmt.Sprintf("%s: inserts are kept there, with --sync %s; %v", s.dir, s.how.Sync, x.Live().Recovery()))
	}
	return x, nil
}

// fresh makes a new index: in memory, or the folder of one, which is then to be opened.
func (s *serving) fresh(ctx context.Context) (*engine.Index, error) {
	design, err := s.design.Choose(ctx, expectedDocs)
	if err != nil {
		return nil, err
	}
	c, err := s.docs.Config(s.g, nil)
	if err != nil {
		return nil, err
	}
	o := engine.Options{Design: &design, Recipe: &c.Recipe, OnConflict: s.how.OnConflict, TTL: s.how.TTL, Budget: s.how.Budget,
		Lengths: s.ratio != 0, MaxLengthRatio: float64(s.ratio)}
	if s.memoryOnly {
		return engine.New(design.K, o)
	}
	return nil, engine.Create(s.dir, design.K, o)
}

// loadInto fingerprints documents and adds them.
func (s *serving) loadInto(ctx context.Context, x *engine.Index, l *server.Loading) error {
	recipe := x.Recipe()
	if recipe == nil {
		return fmt.Errorf("%w: %s was built from raw fingerprints, so it has no recipe for documents", engine.ErrMixed, s.dir)
	}
	c, err := s.docs.Config(s.g, recipe)
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
			l.Loaded(d.ID, []simhash.Fingerprint{d.Fingerprint, d.Second}[:x.PrintsEach()]...)
		}
		waiting = waiting[:0]
		return err
	}
	err = s.g.Ingest(ctx, s.load, c, func(r ingest.Record) error {
		if !r.OK {
			l.LeftOut()
			return nil
		}
		waiting = append(waiting, engine.Doc{Fingerprint: r.Fingerprint, Second: r.Second, ID: r.ID, TextBytes: cli.TextBytes(r.TextBytes)})
		if len(waiting) < insertDocs {
			return nil
		}
		return flush()
	})
	// What was skipped has been said; the rest can be served.
	if err != nil && !errors.Is(err, cli.ErrPartly) {
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
