package server

import "fmt"

// descriptorsKept are for all but clients: the index's files, logs, merges, the admin listener.
const descriptorsKept = 96 + adminConnections + 64

// connectionsMin is how few connections are served at least.
const connectionsMin = 16

// fitConnections lowers the limit of connections to what the process may have open: beyond that, nobody would be answered, and
// nobody told why.
func (s *service) fitConnections() error {
	most := s.descriptors() - descriptorsKept
	if most < connectionsMin {
		return fmt.Errorf("this process may have only %d files and connections open, and needs %d at least: raise the limit with ulimit -n", most+descriptorsKept, descriptorsKept+connectionsMin)
	}
	if s.limits.Connections > most {
		s.log.Warn(fmt.Sprintf("--max-connections %d is lowered to %d, since this process may have only %d files and connections open (ulimit -n)", s.limits.Connections, most, most+descriptorsKept))
		s.limits.Connections = most
	}
	return nil
}
