package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"ndd/cmd/ndd/server/access"
	"ndd/cmd/ndd/server/conns"
	"ndd/cmd/ndd/server/fastpath"
)

// A listener is an HTTP server at an address.
type listener struct {
	*conns.Listener
	server *http.Server
	quick  *fastpath.Listener // answers plain requests before the server; nil with TLS, and where there is none to be answered
	flag   string             // that gives the address
	tls    *tls.Config
}

// listen opens the address that a flag gives; handler makes what answers there, told whether only
// this machine can reach it. The error names the flag. A listener that is given instead of the address is taken as it is.
func (s *service) listen(l net.Listener, flag, address string, most int, handler func(local bool) http.Handler) (*listener, error) {
	var err error
	if l == nil {
		l, err = net.Listen("tcp", address)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s %s: another program listens there already: stop it, or give another address with %s", flag, address, flag)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, address, err)
	}
	host, _, _ := net.SplitHostPort(l.Addr().String())
	limited := conns.Limit(l, most)
	local := access.IsLoopback(host)
	opened := &listener{Listener: limited, server: s.serverOf(limited, handler(local)), flag: flag}
	switch {
	case s.tls != nil && (flag == "--listen" || !local):
		opened.tls = s.tls.Config()
	case flag == "--listen":
		opened.quick = s.quickly(limited, opened.server)
	}
	return opened, nil
}

// quickly returns the listener that answers plain requests for the routes of a body of JSON before the server gets a connection.
func (s *service) quickly(l net.Listener, server *http.Server) *fastpath.Listener {
	var paths []string
	for _, r := range s.routes() {
		if path, post := strings.CutPrefix(r.pattern, "POST "); post && !r.streams {
			paths = append(paths, path)
		}
	}
	return fastpath.New(l, server, paths)
}

// serverOf returns the HTTP server of a listener, with all its limits set.
func (s *service) serverOf(l *conns.Listener, h http.Handler) *http.Server {
	t := s.limits.times
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: t.header,
		ReadTimeout:       t.body,
		WriteTimeout:      t.write,
		IdleTimeout:       t.idle,
		MaxHeaderBytes:    headerBytesMax,
		ErrorLog:          log.New(serverLog{s.log}, "", 0),
	}
	l.Attach(server)
	return server
}

// serverLog takes what package http has to say: of clients it is for debugging, of accepting connections it is a
// warning, since nobody else would say that there are too many open files.
type serverLog struct{ log *slog.Logger }

func (l serverLog) Write(p []byte) (int, error) {
	text := strings.TrimSpace(string(p))
	if strings.Contains(text, "Accept error") {
		l.log.Warn("connections cannot be accepted", "error", text)
	} else {
		l.log.Debug("connection", "error", text)
	}
	return len(p), nil
}

func (l *listener) serve(failed chan<- error) {
	var in net.Listener = l.Listener
	switch {
	case l.tls != nil:
		in = tls.NewListener(in, l.tls)
	case l.quick != nil:
		in = l.quick
	}
	if err := l.server.Serve(in); !errors.Is(err, http.ErrServerClosed) {
		failed <- fmt.Errorf("%s %s: %w", l.flag, l.Addr(), err)
	}
}

// scheme returns how a URL of the listener begins.
func (l *listener) scheme() string {
	if l.tls != nil {
		return "https://"
	}
	return "http://"
}

// address returns the address at which a client on this machine finds the server.
func (l *listener) address() string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", port)
	}
	return l.Addr().String()
}

// drain takes no more connections and lets what runs end, and says whether it did in so long. What did not is reset: no
// answer that was cut off looks whole.
func (l *listener) drain(most time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	l.Finish()
	if l.shutdown(ctx) == nil {
		return true
	}
	l.ResetAll()
	return false
}

// shutdown ends the connections behind their answers. Those of the quick listener may become the server's until they have ended.
func (l *listener) shutdown(ctx context.Context) error {
	if l.quick == nil {
		return l.server.Shutdown(ctx)
	}
	l.server.SetKeepAlivesEnabled(false)
	return errors.Join(l.quick.Shutdown(ctx), l.server.Shutdown(ctx))
}

func (l *listener) close() { l.server.Close() }
