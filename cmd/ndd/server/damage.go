package server

import (
	"errors"

	"github.com/danielgtaylor/huma/v2"

	"ndd/engine/storage/store"
)

// noticeDamage takes the server out of service: what is damaged gives no answers, and /readyz says so. The first
// damage is kept and logged, with its file, section and block.
func (s *service) noticeDamage(err error) {
	if !s.damage.CompareAndSwap(nil, &err) {
		return
	}
	args := []any{"error", err}
	if c, ok := errors.AsType[*store.CorruptError](err); ok {
		args = append(args, "file", c.File, "section", c.Section, "block", c.Block, "offset", c.Offset)
	}
	s.log.Error("the index is damaged, so nothing is answered any more: restore it from a backup, or build it again", args...)
}

// takeDamage is a huma transformer that notices the damage behind an answer.
func (s *service) takeDamage(_ huma.Context, _ string, v any) (any, error) {
	if p, ok := v.(*problem); ok && p.damage != nil {
		s.noticeDamage(p.damage)
	}
	return v, nil
}
