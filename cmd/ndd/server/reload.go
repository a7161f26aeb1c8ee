package server

// reload reads again what SIGHUP is to have read again: tokens, certificates, and the access log's name. What cannot be
// read stays as it was.
func (s *service) reload() {
	if s.keys == nil && s.tls == nil && s.accessLog == nil {
		s.log.Warn("hang-up signal ignored: there is no token file, no certificate and no access log to open again")
		return
	}
	if s.keys != nil {
		s.reloadTokens()
	}
	if s.tls != nil {
		if err := s.tls.Reload(); err != nil {
			s.log.Error("certificate not read; it is unchanged", "error", err)
		} else {
			s.log.Info("certificate read again")
		}
	}
	if s.accessLog != nil {
		if err := s.accessLog.reopen(); err != nil {
			s.log.Error("access log not opened again; it goes on as before", "error", err)
		}
	}
}

func (s *service) reloadTokens() {
	switch n, err := s.keys.Reload(); {
	case err != nil:
		s.log.Error("token file not read; the tokens are unchanged", "error", err)
	case n == 0:
		s.log.Warn("token file read again: it has no tokens any more, so nobody is let in")
	default:
		s.log.Info("token file read again", "tokens", n)
	}
}
