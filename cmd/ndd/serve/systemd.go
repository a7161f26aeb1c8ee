package serve

import (
	"fmt"
	"net"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"

	"example.org/ndd/cmd/ndd/server"
)

// underSystemd uses the sockets of systemd that are named listen and admin (an unnamed one is listen), the notify
// socket and the watchdog.
func underSystemd(o *server.Options) error {
	named, err := activation.ListenersWithNames()
	if err != nil {
		return fmt.Errorf("sockets of systemd: %w", err)
	}
	o.Inherited = map[string]net.Listener{}
	for name, list := range named {
		for _, l := range list {
			as := name
			if name != "admin" {
				as = "listen"
			}
			if l == nil || o.Inherited[as] != nil {
				return fmt.Errorf("sockets of systemd: %q: must be one TCP socket with FileDescriptorName=listen, and one with "+
					"admin", name)
			}
			o.Inherited[as] = l
		}
	}
	o.Notify = func(state string) { daemon.SdNotify(false, state) } // does nothing without systemd
	o.Watchdog, err = daemon.SdWatchdogEnabled(false)
	return err
}
