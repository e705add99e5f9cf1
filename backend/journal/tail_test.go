package journal

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// fill writes records of the lengths given into a new journal and returns the
// file system of a killed process, with where each record ends.
func fill(t testing.TB, mode SyncMode, lengths ...int) (*vfs.MemFS, []int64) {
	t.Helper()
	fs := vfs.NewCrashableMem()
	opts := testOptions(fs)
	opts.Sync, opts.SegmentBytes = mode, 1<<20
	j := mustOpen(t, opts)
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	var ends []int64
	for i, n := range lengths {
		mustAppend(t, j, Record{Queue: q, Shape: s, Rows: 1, Body: body(i, n)})
		ends = append(ends, j.chain.active.end)
	}
	return crash(fs), ends
}

const firstSegment = "/sluice/journal/0000000001.log"

func readFile(t testing.TB, fs vfs.FS, name string) []byte {
	t.Helper()
	f, err := fs.Open(name)
	require.NoError(t, err)
	b, err := io.ReadAll(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return b
}

func writeFile(t testing.TB, fs vfs.FS, name string, b []byte) {
	t.Helper()
	f, err := fs.Create(name, dataCategory)
	require.NoError(t, err)
	_, err = f.Write(bytes.Clone(b)) // a vfs.File may change what it is given
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
}

// reopen opens a journal whose first segment has other contents.
func reopen(t testing.TB, fs *vfs.MemFS, contents []byte, boot byte) (*Journal, *vfs.MemFS, error) {
	t.Helper()
	fs = crash(fs)
	writeFile(t, fs, firstSegment, contents)
	opts := testOptions(fs)
	opts.boot = func() ID { return ID{boot} }
	j, err := Open(opts)
	if err == nil {
		t.Cleanup(func() { _ = j.Close() })
	}
	return j, fs, err
}

func TestTornTailAtEveryByte(t *testing.T) {
	for name, last := range map[string]int{"small": 90, "over two blocks": blockSize} {
		t.Run(name, func(t *testing.T) {
			fs, ends := fill(t, SyncOS, 100, 200, last)
			whole := readFile(t, fs, firstSegment)
			require.Equal(t, ends[2], int64(len(whole)))
			step := int64(1)
			if last > 1000 {
				step = 97
			}
			for cut := ends[1]; cut < ends[2]; cut += step {
				j, fs, err := reopen(t, fs, whole[:cut], 1)
				require.NoError(t, err, "cut at %d", cut)
				q := mustQueue(t, j, "q")
				require.Len(t, readAll(t, j, q, 0, endSeq), 2)
				// What comes next is not swallowed, nor does it mend the tail.
				seq := mustAppend(t, j, Record{Queue: q, Shape: mustShape(t, j, "s"), Body: whole[cut:]})
				j2 := mustOpen(t, testOptions(crash(fs)))
				got := readAll(t, j2, q, 0, endSeq)
				require.Len(t, got, 3)
				require.Equal(t, seq, got[2].Seq)
				require.Equal(t, whole[:cut], readFile(t, fs, firstSegment), "the torn file is not touched")
				require.NoError(t, j.Close())
				require.NoError(t, j2.Close())
			}
		})
	}
}

func TestTornHeaderAtEveryByte(t *testing.T) {
	fs, _ := fill(t, SyncOS, 10)
	whole := readFile(t, fs, firstSegment)
	w := newWalker(vfs.NewMemFile(whole), 0, int64(len(whole)), nil)
	_, err := w.next()
	require.NoError(t, err)
	for cut := range w.offset() {
		j, fs, err := reopen(t, fs, whole[:cut], 1)
		require.NoError(t, err, "cut at %d", cut)
		require.Empty(t, j.Recovered())
		q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
		mustAppend(t, j, Record{Queue: q, Shape: s})
		j2 := mustOpen(t, testOptions(crash(fs)))
		require.Len(t, readAll(t, j2, q, 0, endSeq), 1)
	}
}

func TestFlippedBitIsAnError(t *testing.T) {
	// Pebble looks for the flipped bit itself, which takes long in long chunks.
	fs, ends := fill(t, SyncOS, 100, 500, 40000, 50, 60)
	whole := readFile(t, fs, firstSegment)
	var places []int64
	for at := range ends[1] {
		places = append(places, at)
	}
	for _, at := range []int64{0, 4, 6, 20, 5000} {
		places = append(places, ends[1]+at)
	}
	for at := ends[2] - 2000; at < ends[3]; at += 211 {
		places = append(places, at)
	}
	for at := ends[2]; at < ends[3]; at++ {
		places = append(places, at)
	}
	for _, at := range places {
		broken := append([]byte(nil), whole...)
		broken[at] ^= 1 << (at % 8)
		_, _, err := reopen(t, fs, broken, 1)
		var damage *DamageError
		require.ErrorAs(t, err, &damage, "flipped at %d", at)
		require.Equal(t, firstSegment, damage.Path)
		require.LessOrEqual(t, damage.Offset, at)
		require.ErrorContains(t, err, "nothing was changed")
		require.ErrorContains(t, err, "check the disk")
	}
}

func TestDamageCanBeGivenUpAsTheErrorSays(t *testing.T) {
	fs, ends := fill(t, SyncOS, 100, 100, 100, 100)
	broken := readFile(t, fs, firstSegment)
	broken[ends[1]+20] ^= 4
	_, _, err := reopen(t, fs, broken, 1)
	var damage *DamageError
	require.ErrorAs(t, err, &damage)
	require.Equal(t, ends[1], damage.Offset)
	require.ErrorContains(t, err, "truncate -s")
	j, _, err := reopen(t, fs, broken[:damage.Offset], 1)
	require.NoError(t, err)
	require.Len(t, readAll(t, j, mustQueue(t, j, "q"), 0, endSeq), 2)
}

func TestDamageInAnOlderSegment(t *testing.T) {
	fs := vfs.NewCrashableMem()
	j := mustOpen(t, testOptions(fs))
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	for i := range 100 {
		mustAppend(t, j, Record{Queue: q, Shape: s, Body: body(i, 4000)})
	}
	require.NoError(t, j.Close())
	whole := readFile(t, fs, firstSegment)
	broken := append([]byte(nil), whole...)
	broken[len(whole)/2] ^= 1
	for name, contents := range map[string][]byte{"flipped": broken, "cut": whole[:len(whole)-1], "empty": nil} {
		_, changed, err := reopen(t, fs, contents, 1)
		var damage *DamageError
		require.ErrorAs(t, err, &damage, name)
		require.Equal(t, firstSegment, damage.Path)
		require.False(t, damage.Last)
		sum, err := Verify(testOptions(changed))
		require.NoError(t, err)
		require.NotEmpty(t, sum.Damage)
		require.Len(t, sum.Queues, 1)
		require.Greater(t, sum.Queues[0].Records, uint64(50))
	}
	lost := crash(fs)
	require.NoError(t, lost.Remove("/sluice/journal/0000000002.log"))
	_, err := Open(testOptions(lost))
	require.ErrorContains(t, err, "the segment before it is missing")
	// The oldest may be gone: that is how a journal becomes shorter.
	lost = crash(fs)
	require.NoError(t, lost.Remove(firstSegment))
	mustOpen(t, testOptions(lost))
}

func TestHoleAfterPowerLoss(t *testing.T) {
	lengths := []int{5000, 5000, 5000, 5000, 5000, 5000}
	hole := func(b []byte, from, to int64) []byte {
		b = append([]byte(nil), b...)
		clear(b[from:to])
		return b
	}
	t.Run("unsynced records may be lost", func(t *testing.T) {
		fs, ends := fill(t, SyncOS, lengths...)
		holed := hole(readFile(t, fs, firstSegment), ends[1], ends[2])
		_, _, err := reopen(t, fs, holed, 1)
		require.ErrorContains(t, err, "zeros in place of a record", "the machine did not restart")
		j, _, err := reopen(t, fs, holed, 2)
		require.NoError(t, err)
		require.Len(t, readAll(t, j, mustQueue(t, j, "q"), 0, endSeq), 2)
	})
	t.Run("synced records may not", func(t *testing.T) {
		fs, ends := fill(t, SyncAlways, lengths...)
		holed := hole(readFile(t, fs, firstSegment), ends[1], ends[2])
		_, _, err := reopen(t, fs, holed, 2)
		require.ErrorContains(t, err, "had been synced")
	})
}
