package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// adminConnections are those of the admin listener: scrapers and a person.
const adminConnections = 128

const (
	// drainNotice is how long a server that stops still answers, with Connection: close, and is not ready:
	// clients that keep connections open, and load balancers, go elsewhere.
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
	room, release := heapRoomOf(o.Budget)
	defer release()
	defer roomyHeap(room)()
	if o.started != nil {
		o.started(s)
	}
	if o.AccessLog != "" {
		if s.accessLog, err = openAccessLog(o.AccessLog); err != nil {
			return err
		}
		defer s.accessLog.close()
	}
	if err := s.fitConnections(); err != nil {
		return err
	}
	if o.Copies != nil {
		if s.copies, err = openCopies(ctx, o.Copies); err != nil {
			return err
		}
		defer s.closeCopies()
	}
	front, err := s.listen(o.Inherited["listen"], "--listen", o.Listen, s.limits.Connections, s.handler)
	if err != nil {
		return err
	}
	defer front.close()
	s.front, s.quick = front.Listener, front.quick
	failed := make(chan error, 2)
	go front.serve(failed)
	if o.Admin != "" {
		back, err := s.listen(o.Inherited["admin"], "--admin", o.Admin, adminConnections, func(local bool) http.Handler { return s.adminHandler(local, o.PProf) })
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
	cancel()
	if !isLoaded {
		if e := <-loaded; err == nil && e != nil && !errors.Is(e, context.Canceled) {
			err = e
		}
	}
	if err == nil && s.life.phase() == ready {
		s.life.enter(leaving)
		o.Log.Info("draining")
		s.notify(&o, "STOPPING=1")
		o.notice()
	}
	s.life.enter(draining)
	if !front.drain(o.drainMax) {
		o.Log.Warn(fmt.Sprintf("some requests were still under way after %v and were cut off", o.drainMax))
	}
	s.background.Wait()
	if x := s.index.Swap(nil); x != nil {
		err = errors.Join(err, x.Close())
	}
	return err
}

// loop waits for what happens between start and stop.
func (s *service) loop(ctx context.Context, o *Options, front *listener, loaded, failed <-chan error, isLoaded *bool) error {
	var watch <-chan time.Time
	if o.Watchdog > 0 {
		ticker := time.NewTicker(o.Watchdog / 3)
		defer ticker.Stop()
		watch = ticker.C
	}
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
			s.notify(o, "READY=1")
			if _, err := fmt.Fprintln(o.Ready, s.readyLine(ctx, front.scheme()+front.address())); err != nil {
				return fmt.Errorf("standard output: %w", err)
			}
		case <-o.Reload:
			s.reload(ctx)
		case <-watch:
			s.notify(o, "WATCHDOG=1")
		}
	}
}

// notify tells systemd how the server is.
func (s *service) notify(o *Options, state string) {
	if o.Notify != nil {
		o.Notify(state)
	}
}

func (s *service) load(ctx context.Context, o *Options) error {
	x, err := o.Load(ctx, &s.loading)
	if err != nil {
		return err
	}
	s.serve(x)
	if o.Scrub > 0 {
		s.background.Go(func() { s.scrub(ctx, x, o.Scrub) })
	}
	return nil
}
