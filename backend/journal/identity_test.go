package journal

import (
	"io"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

func TestIdentity(t *testing.T) {
	write := func(fs vfs.FS, name, text string) {
		f, err := fs.Create(name, dataCategory)
		require.NoError(t, err)
		_, err = io.WriteString(f, text)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	fresh := func() (*vfs.MemFS, ID) {
		fs := vfs.NewCrashableMem()
		j := mustOpen(t, testOptions(fs))
		mustAppend(t, j, Record{Queue: mustQueue(t, j, "q"), Shape: mustShape(t, j, "s")})
		require.NoError(t, j.Close())
		return fs, j.ID()
	}
	fs, id := fresh()
	require.Equal(t, id, mustOpen(t, testOptions(fs)).ID())
	other, otherID := fresh()
	require.NotEqual(t, id, otherID)
	const name = "/sluice/journal/identity"

	t.Run("from the future", func(t *testing.T) {
		fs, _ := fresh()
		write(fs, name, "sluice journal 2 with things unheard of\n")
		_, err := Open(testOptions(fs))
		require.ErrorIs(t, err, ErrVersion)
		require.ErrorContains(t, err, "newer sluice")
	})
	t.Run("garbage", func(t *testing.T) {
		for _, text := range []string{"", "hello", "sluice rejects 1 " + id.String(), "sluice journal 1 00", "sluice journal one"} {
			fs, _ := fresh()
			write(fs, name, text)
			_, err := Open(testOptions(fs))
			var damage *DamageError
			require.ErrorAs(t, err, &damage)
			require.Equal(t, name, damage.Path)
		}
	})
	t.Run("lost", func(t *testing.T) {
		fs, _ := fresh()
		require.NoError(t, fs.Remove(name))
		_, err := Open(testOptions(fs))
		require.ErrorContains(t, err, "restore this file")
	})
	t.Run("foreign segment", func(t *testing.T) {
		fs, _ := fresh()
		_, err := vfs.Clone(other, fs, "/sluice/journal/0000000001.log", "/sluice/journal/0000000002.log")
		require.NoError(t, err)
		_, err = Open(testOptions(fs))
		require.ErrorContains(t, err, "belongs to journal "+otherID.String())
	})
	t.Run("renamed segment", func(t *testing.T) {
		fs, _ := fresh()
		require.NoError(t, fs.Rename("/sluice/journal/0000000001.log", "/sluice/journal/0000000009.log"))
		_, err := Open(testOptions(fs))
		require.ErrorContains(t, err, "its header says that it is 0000000001.log")
	})
	t.Run("not a segment", func(t *testing.T) {
		fs, _ := fresh()
		write(fs, "/sluice/journal/0000000002.log", "some text that somebody left here")
		_, err := Open(testOptions(fs))
		var damage *DamageError
		require.ErrorAs(t, err, &damage)
	})
	t.Run("other files", func(t *testing.T) {
		fs, _ := fresh()
		write(fs, "/sluice/journal/README", "text")
		write(fs, "/sluice/journal/1.log", "text")
		mustOpen(t, testOptions(fs))
	})
}
