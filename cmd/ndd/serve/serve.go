// Package serve holds the commands serve and health: they open or make the index that package
// server answers from, set the server's limits, and work with systemd.
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
	"github.com/spf13/pflag"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/cmd/ndd/design"
	"example.org/ndd/cmd/ndd/index"
	"example.org/ndd/cmd/ndd/server"
	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/worker"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/numa"
)

// expectedDocs is the number of documents that a new index is designed for. It may grow beyond.
const expectedDocs = 1 << 20

// scrubTime is the time for reading all blocks of the index once, to find damage. A terabyte per day takes 12 MB/s of
// the disk.
const scrubTime = 24 * time.Hour

// insertDocs documents are added to the index at a time while it is loaded.
const insertDocs = 512

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newServe(g.NewFiles()), newHealth(g)}
}

// serveHelp is the help of the command.
const serveHelp = `Serve an index over HTTP: search, insert and delete documents.

The server answers an insert or a delete after the change is on disk, so it survives a
crash or a power cut. Only this machine can connect, unless --listen names another
address, which requires --token-file. Only one server at a time can use an index.

  POST /v1/check-and-insert  insert a document unless a near-duplicate is stored
  POST /v1/query, /v1/batch  find near-duplicates of documents or fingerprints
  POST /v1/insert, /v1/delete, /v1/backup; GET /v1/documents, /v1/stats, /readyz, /livez
  GET  /, /docs              a page to search with, and the reference of all endpoints`

func newServe(g *cli.Files) *cobra.Command {
	s := &serveRun{g: g, options: server.Options{Version: g.Version, Scrub: scrubTime}}
	s.docs.Format, s.docs.MaxDocument = "auto", "64MiB" // the defaults of 'ndd fingerprint'
	cmd := &cobra.Command{
		Use:   "serve [flags] [-i INDEX] [--load INPUT...]",
		Short: "Answer queries and take documents over HTTP",
		Long:  serveHelp,
		Example: `  ndd serve                                      serve ./ndd-data
  ndd serve -i pages --create                    create pages if it does not exist
  ndd serve --load docs/                         insert a folder first
  ndd serve -i pages --ttl 90d                   expire new documents after 90 days
  ndd serve -i index --listen 0.0.0.0:7744 --token-file tokens
  curl -s http://127.0.0.1:7744/v1/query -d '{"text": "..."}'
  curl http://127.0.0.1:7744/v1/query -H 'Content-Type: text/html' --data-binary @a.html`,
		Annotations: cli.HelpOf("Guide: ndd help operations. Clients: ndd help crawler",
			"Index: index=DIR create load=INPUT memory-only threshold=X on-conflict=HOW ttl=TIME sync=WHEN checksums=HOW "+
				"accept-clock backup-dir=DIR memory=SIZE",
			"A new index: distance=N recipe=NAME design=NAME private-key",
			"Network and access: listen=ADDRESS token-file=FILE tls-cert=FILE tls-key=FILE insecure-no-auth",
			"Monitoring: admin=ADDRESS access-log"),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args) },
	}
	s.registerIndex(cmd)
	s.registerListeners(cmd.Flags())
	return cmd
}

// registerIndex adds the flags about the index.
func (s *serveRun) registerIndex(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&s.dir, "index", "i", "", "index to serve (default: ./ndd-data, made if missing)")
	f.BoolVar(&s.mayCreate, "create", false, "make the index of -i if it does not exist")
	f.BoolVar(&s.privateKey, "private-key", false, "draw a secret key, against pages made to be near others")
	f.StringArrayVar(&s.load, "load", nil, "documents to insert at the start; repeatable")
	f.BoolVar(&s.memoryOnly, "memory-only", false, "write nothing to disk: inserts are lost at the end")
	cli.ValueVar(f, &s.how.NoSync, "sync", "sync to disk: always (default) or never", []string{"always", "never"}, false, true)
	index.RegisterConflict(cmd, &s.how.OnConflict)
	index.RegisterTTL(cmd, &s.ttl)
	s.threshold.Register(f)
	f.BoolVar(&s.how.AcceptClock, "accept-clock", false, "trust a clock that is more than a day off the last use")
	f.StringVar(&s.memory, "memory", "", "limit, without mapped files (default: available memory)")
	s.design.RegisterNamed(cmd)
	f.StringVar(&s.docs.Recipe, "recipe", "", "minwise (default), minwise-pairs, simhash or a file")
	s.open.RegisterChecksums(cmd)
}

// registerListeners adds the flags of addresses and of access to them.
func (s *serveRun) registerListeners(f *pflag.FlagSet) {
	f.StringVar(&s.options.Listen, "listen", server.DefaultListen, "address, or unix:PATH")
	f.StringVar(&s.options.Admin, "admin", server.DefaultAdmin, "address of /metrics, or off")
	f.StringVar(&s.options.Backups, "backup-dir", "", "folder in which POST /v1/backup makes backups")
	f.StringVar(&s.options.TokenFile, "token-file", "", "lines 'TOKEN ROLE', readable by their owner alone")
	f.StringVar(&s.options.TLSCert, "tls-cert", "", "certificate chain for https (PEM)")
	f.StringVar(&s.options.TLSKey, "tls-key", "", "private key of --tls-cert (PEM)")
	f.BoolVar(&s.accessLog, "access-log", false, "log each request to standard error, as JSON")
	f.BoolVar(&s.options.InsecureNoAuth, "insecure-no-auth", false, "allow other machines to connect without a token")
	f.BoolVar(&s.stopWithStdin, "stop-with-stdin", false, "stop when standard input ends: for the program "+
		"that runs the server")
	f.MarkHidden("stop-with-stdin")
}

// A serveRun is a run of the command.
type serveRun struct {
	g       *cli.Files
	cmd     *cobra.Command
	options server.Options
	dir     string
	create  bool // dir does not exist and is made
	flags
	how    live.OpenOptions
	open   index.OpenFlags
	design design.Flags
	docs   cli.DocumentFlags
	tables *worker.Options // nil if they stay in their file
}

// flags are flags that [serveRun.run] reads.
type flags struct {
	load          []string
	memoryOnly    bool
	accessLog     bool
	stopWithStdin bool
	mayCreate     bool // it is not an error that there is no index
	privateKey    bool // a new index draws its own key
	memory        string
	ttl           index.TTL
	threshold     cli.Threshold
}

func (s *serveRun) run(cmd *cobra.Command, args []string) error {
	s.cmd = cmd
	g := s.g
	// Check the flags, and choose the folder of the index.
	if len(args) > 0 && !cmd.Flags().Changed("load") {
		return cli.Usagef("unexpected argument %q: to load documents, put --load before them", args[0])
	}
	s.load = append(s.load, args...)
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
	// Complete the options of the server.
	if s.tables = index.Spread(g, "auto"); s.dir != "" && s.tables == nil {
		g.Log.Debug("memory nodes: " + numa.New(numa.Options{}).String() + ": the tables stay in their file")
	}
	o.Load, o.Budget, o.Folder = s.index, s.how.Budget, s.dir
	o.Threads = g.Threads
	o.Log = g.Log
	o.Ready = g.Stdout
	if s.accessLog {
		o.AccessLog = g.Stderr
	}
	// SIGHUP reloads files.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	o.Reload = hangups
	if s.memoryOnly {
		g.Log.Info("inserted documents are kept in memory only and are lost when the server stops")
	}
	// The end of standard input stops the server if --stop-with-stdin is set.
	ctx := cmd.Context()
	if s.stopWithStdin { // it ends with the program that holds the other end, even if that is killed
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(ctx)
		go func() {
			io.Copy(io.Discard, g.Stdin)
			stop()
		}()
	}
	return server.Run(ctx, o)
}

// defaultDir is the folder of an index that is served without -i.
const defaultDir = "ndd-data"

// place decides which folder is served, if any, and refuses flags that do not go together.
func (s *serveRun) place(cmd *cobra.Command) (err error) {
	// Check the values of flags.
	if err := s.threshold.Check(); err != nil {
		return err
	}
	s.how.TTL, s.how.Threshold = time.Duration(s.ttl), s.threshold.Option()
	if s.how.Budget, err = s.g.Budget(s.memory); err != nil {
		return err
	}
	// Set how the index is written.
	s.how.Write, s.how.Disk = !s.memoryOnly, s.g.Disk
	s.how.Planned = index.SayPlanned(s.g, s.how.Budget)
	if s.how.Disk == nil {
		s.options.Disk = server.NewDiskFigures()
		s.how.Disk = disk.Hooked(s.options.Disk)
	}
	// Refuse flags that exclude each other.
	if s.memoryOnly && cmd.Flags().Changed("sync") {
		return cli.Usagef("--sync applies only without --memory-only")
	}
	if s.mayCreate && s.memoryOnly {
		return cli.Usagef("--create applies only without --memory-only")
	}
	// Choose the folder, and whether it is created.
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
	return nil
}

// agrees refuses flags for a new index that contradict the index.
func (s *serveRun) agrees(x *engine.Index) error {
	if r := x.Recipe(); s.privateKey && (r == nil || !r.Private) {
		return cli.Usagef("--private-key: %s has a published key; make a new index from the documents", s.dir)
	}
	if err := s.readRecipes(x.Recipe()); err != nil {
		return err
	}
	err, way := s.design.Agrees(s.cmd, s.dir, x.Design().K, x.Design().Name), fmt.Sprintf("'ndd export %s'", s.dir)
	if err == nil && s.cmd.Flags().Changed("recipe") {
		way = fmt.Sprintf("'ndd fingerprint --recipe %s' of its texts", s.docs.Recipe)
		_, err = s.docs.Config(s.g, x.Recipe())
		if err == nil && x.Recipe() == nil {
			err = fmt.Errorf("--recipe %s: %s was built from raw fingerprints and has no recipe", s.docs.Recipe, s.dir)
		}
	}
	if err == nil || errors.Is(err, cli.ErrUsage) {
		return err
	}
	return cli.Usagef("%w; leave the flag out, or make another index with %s and 'ndd build'", err, way)
}

// readRecipes reads the files that the recipes of --recipe and of the index name. The former are found first: files of
// the index may have moved.
func (s *serveRun) readRecipes(stored *simhash.Recipe) error {
	requested, err := cli.RecipeOf(s.docs.Recipe)
	if err == nil {
		_, err = simhash.New(requested)
	}
	if err == nil && stored != nil {
		_, err = simhash.New(*stored)
	}
	return err
}

// placeBackups refuses a folder that cannot hold backups.
func (s *serveRun) placeBackups() error {
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
		return cli.Usagef("--backup-dir: %w: give an existing folder", err)
	}
	if index, err := os.Stat(s.dir); err == nil && os.SameFile(index, info) {
		return cli.Usagef("--backup-dir %s: is the index itself: give another folder", s.options.Backups)
	}
	return nil
}

// index opens or makes the index and loads documents into it.
func (s *serveRun) index(ctx context.Context, l *server.LoadProgress) (*engine.Index, error) {
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
func (s *serveRun) base(ctx context.Context, l *server.LoadProgress) (*engine.Index, error) {
	if s.dir == "" || s.create {
		x, err := s.newIndex(ctx)
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
	if err := s.agrees(x); err != nil {
		x.Close()
		return nil, err
	}
	index.LogSpread(s.g, x)
	if !s.memoryOnly {
		s.g.Log.Info(fmt.Sprintf("%s: changes are written to disk, with --sync %s; %v", s.dir, s.cmd.Flag("sync").Value, live.Unwrap(x).Recovery))
	}
	return x, nil
}

// newIndex makes a new index: in memory, or the folder of one, which is then to be opened.
func (s *serveRun) newIndex(ctx context.Context) (*engine.Index, error) {
	design, err := s.design.Choose(ctx, expectedDocs)
	if err != nil {
		return nil, err
	}
	c, err := s.docs.Config(s.g, nil)
	if err != nil {
		return nil, err
	}
	if s.privateKey {
		c.Recipe = c.Recipe.WithPrivateKey()
	}
	o := engine.Options{Design: &design, Recipe: &c.Recipe, OnConflict: engine.OnConflict(s.how.OnConflict), TTL: s.how.TTL,
		Threshold: s.how.Threshold, Budget: s.how.Budget}
	if s.memoryOnly {
		return engine.New(design.K, o)
	}
	return nil, engine.Create(s.dir, design.K, o)
}

// loadInto fingerprints documents and adds them.
func (s *serveRun) loadInto(ctx context.Context, x *engine.Index, l *server.LoadProgress) error {
	// Fingerprint by the recipe of the index.
	recipe, err := x.DocumentRecipe()
	if err != nil {
		return err
	}
	c, err := s.docs.Config(s.g, recipe)
	if err != nil {
		return err
	}
	c.Sketches = true
	l.Stage("reading documents")
	// Insert documents in batches.
	var waiting []engine.Doc
	flush := func() error {
		if len(waiting) == 0 {
			return nil
		}
		_, err := x.Insert(ctx, waiting...)
		for _, d := range waiting {
			l.Loaded(d.Fingerprint)
		}
		waiting = waiting[:0]
		return err
	}
	// Read all inputs.
	err = s.g.Ingest(ctx, s.load, c, func(r ingest.Record) error {
		if !r.OK {
			l.LeftOut()
			return nil
		}
		waiting = append(waiting, engine.Doc{Fingerprint: r.Fingerprint, ID: r.ID, Sketch: r.Sketch})
		if len(waiting) < insertDocs {
			return nil
		}
		return flush()
	})
	// The skipped inputs have been reported; the rest can be served.
	if err != nil && !errors.Is(err, cli.ErrPartly) {
		return err
	}
	return flush()
}
