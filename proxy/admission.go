package proxy

import (
	"errors"
	"fmt"
	"math"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sluice-db/sluice/backend/wire"
)

// tooMany is error 1040, ER_CON_COUNT_ERROR, with what the limit is.
func tooMany(limit string) *wire.Error {
	return &wire.Error{Code: 1040, State: "08004", Message: "sluice: too many connections (" + limit + ")"}
}

// admit counts a session in, or says why there is no room for it.
func (s *Server) admit() *wire.Error {
	n, room := s.open.Add(1), sessionRoom()
	var refused *wire.Error
	switch limit := s.opts.MaxSessions; {
	case limit > 0 && n > int64(limit):
		refused = tooMany("max_sessions")
	case n > room:
		refused = tooMany(fmt.Sprintf("%d sessions take what sluice may have of file descriptors: raise ulimit -n", room))
		s.scarce.Warn().Int64("sessions", room).Msg("a client is refused: more file descriptors are not allowed (ulimit -n)")
	default:
		return nil
	}
	s.open.Add(-1)
	return refused
}

// sessionRoom is for how many sessions there are descriptors: two for each, and some are
// kept for the journal, the service account, HTTP and clients that are told to go.
func sessionRoom() int64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt64
	}
	const least, most = 32, 512
	n := int64(min(limit.Cur, math.MaxInt64))
	return max((n-min(max(n/8, least), most))/2, 1)
}

// isScarcity says that the process, or the machine, has no descriptors left.
func isScarcity(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
