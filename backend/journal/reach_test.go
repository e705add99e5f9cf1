package journal

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

func TestReach(t *testing.T) {
	j, err := Open(Options{Dir: "j", FS: vfs.NewMem(), Sync: SyncOS, MinFree: -1})
	require.NoError(t, err)
	q, err := j.Queue("a")
	require.NoError(t, err)
	s, err := j.Shape([]byte("shape"))
	require.NoError(t, err)
	body := make([]byte, stretchBytes)
	for range 10 {
		_, err = j.Append(Record{Queue: q, Shape: s, Rows: 5, Body: body})
		require.NoError(t, err)
	}
	for _, c := range []struct {
		from            uint64
		rows, size      int
		to              uint64
		gotRows, gotLen int
	}{
		{0, 100, 1 << 30, 10, 50, 10 * stretchBytes}, // all of it
		{0, 14, 1 << 30, 2, 10, 2 * stretchBytes},    // bounded by rows
		{3, 100, 3 * stretchBytes, 6, 15, 3 * stretchBytes},
		{3, 1, 1, 4, 5, stretchBytes}, // never nothing
		{10, 100, 100, 0, 0, 0},
	} {
		to, rows, size, err := j.Reach(q, c.from, c.rows, c.size)
		require.NoError(t, err)
		require.Equal(t, []any{c.to, c.gotRows, c.gotLen}, []any{to, rows, size}, "%+v", c)
	}
	_, _, _, err = j.Reach(q+1, 0, 1, 1)
	require.ErrorIs(t, err, ErrUnknown)
	require.NoError(t, j.Close())
}
