package server

import "context"

// reload reads again what SIGHUP is to have read again: tokens, certificates, the access log's name, and the index of copies, which
// is opened in the background. What cannot be read stays as it was.
func (s *service) reload(ctx context.Context) {
	if s.keys == nil && s.tls == nil && s.accessLog == nil && s.copies == nil {
		s.log.Warn("hang-up signal ignored: there is no token file, no certificate, no access log and no index of copies to open again")
		return
	}
	if s.copies != nil {
		s.background.Go(func() { s.reloadCopies(ctx) })
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

// reloadCopies opens the index of copies again.
func (s *service) reloadCopies(ctx context.Context) {
	switch n, changed, err := s.copies.reload(ctx); {
	case err != nil:
		s.log.Error("index of copies not opened again; it goes on as before", "error", err)
	case changed:
		s.log.Info("index of copies opened again", "documents", n)
	default:
		s.log.Info("index of copies is unchanged", "documents", n)
	}
}

// closeCopies closes the index of copies, or leaves it to the last request that uses it.
func (s *service) closeCopies() {
	if err := s.copies.close(); err != nil {
		s.log.Error("index of copies not closed", "error", err)
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
