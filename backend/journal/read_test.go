package journal

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

func TestReadStartsNearby(t *testing.T) {
	fs := vfs.NewCrashableMem()
	opts := testOptions(fs)
	opts.SegmentBytes = 64 << 20
	j := mustOpen(t, opts)
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	const n = 1500
	lengths := []int{10, 3000, 9000, 40000, 100} // blocks begin inside of records as well
	for i := range n {
		mustAppend(t, j, Record{Queue: q, Shape: s, Body: body(i, lengths[i%len(lengths)])})
	}
	check := func(j *Journal) {
		seg := j.chain.newest()
		require.Greater(t, len(seg.index), 10)
		for i, e := range seg.index[1:] {
			require.InDelta(t, indexStep, e.block-seg.index[i].block, 3*blockSize)
			for seq := e.seq - 2; seq < e.seq+3; seq++ {
				require.Less(t, seg.seek(seq), e.block+1)
				got := readAll(t, j, q, seq-1, seq)
				require.Len(t, got, 1)
				require.Equal(t, body(int(seq-1), lengths[int(seq-1)%len(lengths)]), got[0].Body)
			}
			require.Equal(t, e.block, seg.seek(e.seq))
		}
		require.Len(t, readAll(t, j, q, 777, n), n-777)
	}
	check(j)
	opts.FS = crash(fs)
	check(mustOpen(t, opts))
}

func TestReadAfterSomebodyDamagedTheFile(t *testing.T) {
	fs := vfs.NewMem()
	j := mustOpen(t, testOptions(fs))
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	for i := range 20 {
		mustAppend(t, j, Record{Queue: q, Shape: s, Body: body(i, 300)})
	}
	whole := readFile(t, fs, firstSegment)
	for name, contents := range map[string][]byte{
		"cut":     whole[:len(whole)/2],
		"flipped": append(append(append([]byte(nil), whole[:2000]...), whole[2000]^1), whole[2001:]...),
	} {
		writeFile(t, fs, firstSegment, contents)
		n := 0
		err := j.Read(q, 0, endSeq, func(Record) error { n++; return nil })
		var damage *DamageError
		require.ErrorAs(t, err, &damage, name)
		require.Greater(t, n, 3, name)
	}
	require.NoError(t, fs.Remove(firstSegment))
	var damage *DamageError
	require.ErrorAs(t, j.Read(q, 0, endSeq, func(Record) error { return nil }), &damage)
}
