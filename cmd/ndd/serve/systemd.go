package serve

import (
	"github.com/coreos/go-systemd/v22/daemon"

	"example.org/ndd/cmd/ndd/server"
)

// underSystemd uses the notify socket and the watchdog of systemd.
func underSystemd(o *server.Options) (err error) {
	o.Notify = func(state string) { daemon.SdNotify(false, state) } // does nothing without systemd
	o.Watchdog, err = daemon.SdWatchdogEnabled(false)
	return err
}
