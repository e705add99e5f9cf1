package backend

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A server that takes connections and says nothing does not hold up the end.
func TestPoolOpenGivesUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	p := newPool(Account{Network: "tcp", Addr: l.Addr().String(), User: "u", Timeout: 25 * time.Millisecond}, 1)
	for range 2 { // the slot is free again
		start := time.Now()
		_, err = p.get(context.Background())
		require.ErrorContains(t, err, l.Addr().String())
		require.Less(t, time.Since(start), 5*time.Second)
	}
}
