package serve

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"

	"ndd/cmd/ndd/server"
)

// underSystemd has the server use what systemd gives it: sockets that are open already, named listen and admin (of
// one without a name it is listen), a socket to say when it is ready, and a watchdog.
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
				return fmt.Errorf("sockets of systemd: %q: must be one TCP socket with FileDescriptorName=listen, and one with admin", name)
			}
			o.Inherited[as] = l
		}
	}
	o.Notify = func(state string) {
		daemon.SdNotify(false, state) // who is not told by systemd waits for it elsewhere
	}
	o.Watchdog, err = daemon.SdWatchdogEnabled(false)
	return err
}

// unit is a unit of systemd. The first %s is where ndd stands, the second its arguments, the third more lines.
const unit = `# /etc/systemd/system/ndd.service
# systemctl daemon-reload && systemctl enable --now ndd
[Unit]
Description=ndd, near-duplicate search
After=network.target

[Service]
Type=notify
ExecStart=%s%s
ExecReload=/bin/kill -HUP $MAINPID
WatchdogSec=60
TimeoutStartSec=infinity
TimeoutStopSec=20
Restart=on-failure
LimitNOFILE=65536
StateDirectory=ndd
WorkingDirectory=%%S/ndd
%sDynamicUser=yes
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
CapabilityBoundingSet=

[Install]
WantedBy=multi-user.target

# For connections that wait while ndd restarts, /etc/systemd/system/ndd.socket:
# [Socket]
# ListenStream=%s
# FileDescriptorName=listen
# [Install]
# WantedBy=sockets.target
`

// printUnit writes a unit that runs a server with the arguments that were given.
func printUnit(out io.Writer, program string, args []string, index, listen string) error {
	var line strings.Builder
	for _, a := range args {
		if a != "--print-unit" && a != "--print-unit=true" {
			line.WriteString(" " + quoteUnit(a))
		}
	}
	more := ""
	if filepath.IsAbs(index) {
		more = "ReadWritePaths=" + quoteUnit(index) + "\n"
	}
	_, err := fmt.Fprintf(out, unit, quoteUnit(program), line.String(), more, listen)
	return err
}

// quoteUnit writes a word of a unit's command line as systemd reads it.
func quoteUnit(word string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$", "\n", `\n`).Replace(word)
	if escaped != word || word == "" || strings.ContainsAny(word, " \t';") {
		return `"` + escaped + `"`
	}
	return word
}
