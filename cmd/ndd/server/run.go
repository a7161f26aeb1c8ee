package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"golang.org/x/net/netutil"

	"ndd/cmd/ndd/server/access"
)

// Limits of a connection.
const (
	headerTimeout  = 5 * time.Second
	readTimeout    = 30 * time.Second
	writeTimeout   = 60 * time.Second
	idleTimeout    = 120 * time.Second
	headerBytesMax = 32 << 10
	connectionsMax = 4096
)

const (
	// drainNotice is how long a draining server still takes connections: to
	// tell clients that keep theirs open, and load balancers, to go elsewhere.
	drainNotice = 500 * time.Millisecond
	// drainMax is how long what runs may go on; with the notice, and what ends
	// after it, the process is gone within 10 s.
	drainMax = 8 * time.Second
)

// Run serves until ctx ends, and then drains: nil is a stop that was asked
// for. Errors name the address or the file.
func Run(ctx context.Context, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if o.notice == nil {
		o.notice = func() { time.Sleep(drainNotice) }
	}
	o.drainMax = cmp.Or(o.drainMax, drainMax)
	s, err := newService(&o)
	if err != nil {
		return err
	}
	front, err := listen("--listen", o.Listen, func(local bool) http.Handler { return s.handler(local) }, o.Log)
	if err != nil {
		return err
	}
	defer front.close()
	failed := make(chan error, 2)
	go front.serve(failed)
	if o.Admin != "" {
		back, err := listen("--admin", o.Admin, func(local bool) http.Handler { return s.adminHandler(local, o.PProf) }, o.Log)
		if err != nil {
			return err
		}
		defer back.close()
		go back.serve(failed)
	}

	loadContext, cancel := context.WithCancel(ctx)
	loaded := make(chan error, 1)
	go func() { loaded <- s.load(loadContext, &o) }()
	// Whatever ends the loop, the index must be whole or gone before it is closed.
	isLoaded := false
	err = s.loop(ctx, &o, front, loaded, failed, &isLoaded)
	s.life.enter(draining)
	cancel()
	if !isLoaded {
		if e := <-loaded; err == nil && e != nil && !errors.Is(e, context.Canceled) {
			err = e
		}
	}
	if err == nil {
		o.Log.Info("draining")
		o.notice()
	}
	if !front.drain(o.drainMax) {
		o.Log.Warn(fmt.Sprintf("some requests were still under way after %v and were cut off", o.drainMax))
	}
	if x := s.index.Swap(nil); x != nil {
		err = errors.Join(err, x.Close())
	}
	return err
}

// loop waits for what happens between start and stop.
func (s *service) loop(ctx context.Context, o *Options, front *listener, loaded, failed <-chan error, isLoaded *bool) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		case err := <-loaded:
			*isLoaded, loaded = true, nil
			if err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
			if _, err := fmt.Fprintln(o.Ready, s.readyLine(ctx, front.address())); err != nil {
				return fmt.Errorf("standard output: %w", err)
			}
		case <-o.Reload:
			s.reload()
		}
	}
}

func (s *service) load(ctx context.Context, o *Options) error {
	x, err := o.Load(ctx, &s.loading)
	if err != nil {
		return err
	}
	s.serve(x)
	return nil
}

// reload reads the token file again.
func (s *service) reload() {
	if s.keys == nil {
		s.log.Warn("hang-up signal ignored: there is no token file to read again")
		return
	}
	switch n, err := s.keys.Reload(); {
	case err != nil:
		s.log.Error("token file not read; the tokens are unchanged", "error", err)
	case n == 0:
		s.log.Warn("token file read again: it has no tokens any more, so nobody is let in")
	default:
		s.log.Info("token file read again", "tokens", n)
	}
}

// A listener is an HTTP server at an address.
type listener struct {
	net.Listener
	server *http.Server
}

// listen opens the address that a flag gives; handler makes what answers there, told whether only
// this machine can reach it. The error names the flag.
func listen(flag, address string, handler func(local bool) http.Handler, log *slog.Logger) (*listener, error) {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s %s: another program listens there already: stop it, or give another address with %s", flag, address, flag)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, address, err)
	}
	host, _, _ := net.SplitHostPort(l.Addr().String())
	return &listener{netutil.LimitListener(l, connectionsMax), limited(handler(access.IsLoopback(host)), log)}, nil
}

// limited returns an HTTP server with all its limits set.
func limited(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerBytesMax,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

func (l *listener) serve(failed chan<- error) {
	if err := l.server.Serve(l.Listener); !errors.Is(err, http.ErrServerClosed) {
		failed <- fmt.Errorf("%s: %w", l.Addr(), err)
	}
}

// address returns the address at which a client on this machine finds the server.
func (l *listener) address() string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", port)
	}
	return l.Addr().String()
}

// drain takes no more connections and lets what runs end, and says whether it did in so long.
func (l *listener) drain(most time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	return l.server.Shutdown(ctx) == nil
}

func (l *listener) close() { l.server.Close() }
