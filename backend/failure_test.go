package backend

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/backend/wire"
)

// serve waits for what passes by itself and refuses to start with the rest.
func TestPasses(t *testing.T) {
	said := func(code uint16) error { return fmt.Errorf("service account: %w", &wire.Error{Code: code}) }
	for _, err := range []error{said(1040), said(1053), io.EOF, &net.OpError{Err: syscall.ECONNREFUSED}, context.DeadlineExceeded} {
		require.True(t, Passes(err), "%v", err)
	}
	_, file := os.ReadFile("/nonexistent/file")
	for _, err := range []error{said(1045), said(4151), said(1142), ErrExcess, fmt.Errorf("%w: why", ErrOtherServer), ErrTLS, fmt.Errorf("identity: %w", file)} {
		require.False(t, Passes(err), "%v", err)
	}
}
