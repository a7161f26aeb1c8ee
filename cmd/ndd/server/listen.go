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
	"os"
	"strings"
	"syscall"
	"time"

	"example.org/ndd/cmd/ndd/server/access"
)

// A listener is an HTTP server at an address.
type listener struct {
	net.Listener
	*connections
	server *http.Server
	flag   string // name of the flag with the address
	tls    *tls.Config
}

// listen opens the address of a flag. handler returns the handler of requests. Its argument
// local is true if only this machine can reach the address. Errors name the flag.
func (s *service) listen(flag, address string, clients *connections,
	handler func(local bool) http.Handler) (*listener, error) {
	open := func() (net.Listener, error) { return net.Listen("tcp", address) }
	if path, ok := strings.CutPrefix(address, socketPrefix); ok {
		open = func() (net.Listener, error) { return listenAt(path) }
	}
	l, err := open()
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s %s: another program listens there already: stop it, or give another address with %s",
			flag, address, flag)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, address, err)
	}
	host, _, _ := net.SplitHostPort(l.Addr().String())
	local := access.IsLoopback(host) || l.Addr().Network() == "unix"
	result := &listener{Listener: l, connections: clients, server: s.serverOf(handler(local)), flag: flag}
	clients.limit(result.server)
	if s.tls != nil && (flag == "--listen" || !local) {
		result.tls = s.tls.Config()
	}
	return result, nil
}

// listenAt listens at a Unix socket, which only its owner may use. It replaces the socket of a server that was
// killed.
func listenAt(path string) (net.Listener, error) {
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return nil, syscall.EADDRINUSE
	} else if errors.Is(err, syscall.ECONNREFUSED) {
		os.Remove(path)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	return l, os.Chmod(path, 0o600)
}

// serverOf returns the HTTP server of a listener, with all its limits set.
func (s *service) serverOf(h http.Handler) *http.Server {
	t := s.limits.times
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: t.header,
		ReadTimeout:       t.body,
		WriteTimeout:      t.write,
		IdleTimeout:       t.idle,
		MaxHeaderBytes:    headerBytesMax,
		ErrorLog:          log.New(serverLog{s.log}, "", 0),
	}
}

// serverLog receives the messages of package http. Messages about clients are for debugging. Failures to accept
// connections are warnings, because nothing else reports that too many files are open.
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
	in := l.Listener
	if l.tls != nil {
		in = tls.NewListener(in, l.tls)
	}
	if err := l.server.Serve(in); !errors.Is(err, http.ErrServerClosed) {
		failed <- fmt.Errorf("%s %s: %w", l.flag, l.Addr(), err)
	}
}

// scheme returns the beginning of a URL of the listener.
func (l *listener) scheme() string {
	if l.tls != nil {
		return "https://"
	}
	return "http://"
}

// address returns the address of the server for clients on this machine.
func (l *listener) address() string {
	if l.Addr().Network() == "unix" {
		return "localhost"
	}
	host, port, err := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", port)
	}
	return l.Addr().String()
}

// finishTime is the time during which a stopping server still accepts connections. Clients that are not accepted
// before the listener closes see a reset. Thousands are accepted in this time.
const finishTime = 50 * time.Millisecond

// drain accepts no more connections, and waits at most timeMax for the running requests. It reports whether all of
// them ended. It resets the connections of the others, so that no partial answer looks complete.
func (l *listener) drain(timeMax time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), timeMax)
	defer cancel()
	time.Sleep(finishTime)
	if l.server.Shutdown(ctx) == nil {
		return true
	}
	l.resetAll()
	return false
}

func (l *listener) close() { l.server.Close() }

// adminConnections is the maximum number of connections of the admin listener.
const adminConnections = 128

// descriptorsKept are the open files that are not for clients: files of the index, logs, merges, the admin listener.
const descriptorsKept = 96 + adminConnections + 64

// connectionsMin is the smallest number of connections to serve.
const connectionsMin = 16

// fitConnections lowers the limit of connections to the files that the process may have open.
func (s *service) fitConnections(files int) error {
	limit := files - descriptorsKept
	if limit < connectionsMin {
		return fmt.Errorf("this process may have only %d files and connections open, and needs %d at least: "+
			"raise the limit with ulimit -n", files, descriptorsKept+connectionsMin)
	}
	if s.limits.Connections > limit {
		s.log.Warn(fmt.Sprintf("serving %d connections at a time instead of %d: this process may have only %d files "+
			"open (ulimit -n)", limit, s.limits.Connections, files))
		s.limits.Connections, s.front.max = limit, limit
	}
	return nil
}
