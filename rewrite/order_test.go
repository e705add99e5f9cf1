package rewrite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func keysOf(list ...string) *Keys {
	k := new(Keys)
	for _, key := range list {
		k.Append([]byte(key))
	}
	return k
}

func TestKeys(t *testing.T) {
	k := keysOf("b", "", "abc")
	require.Equal(t, 3, k.Len())
	require.Equal(t, 16, k.Size())
	require.Equal(t, "b", string(k.Bytes(0)))
	require.Empty(t, k.Bytes(1))
	require.Equal(t, "abc", string(k.Bytes(2)))
	require.Equal(t, []uint32{1, 2, 0}, k.Sort(nil))
	k.Reset()
	require.Zero(t, k.Len())
	require.Empty(t, k.Sort(nil))
	require.True(t, k.Append([]byte("x")))
	require.Equal(t, []uint32{0}, k.Sort(nil))
}

func TestSorted(t *testing.T) {
	require.True(t, keysOf().Sorted())
	require.True(t, keysOf("", "a", "a", "a\x00", "b").Sorted())
	require.False(t, keysOf("a", "b", "a\x00").Sorted())
	require.Equal(t, []uint32{0, 1, 2}, keysOf("a", "b", "c").Sort(make([]uint32, 0, 9)))
}

// Sort is stable and agrees with comparing whole keys, for keys with common
// beginnings of every length, zeros at the end and few different values.
func TestSort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var k Keys
	var perm []uint32
	for round := range 300 {
		k.Reset()
		letters := 1 + random.IntN(3)
		longest := 1 + random.IntN(40)
		for range random.IntN(200) {
			key := make([]byte, random.IntN(longest))
			for i := range key {
				key[i] = byte(random.IntN(letters))
			}
			k.Append(key)
		}
		perm = k.Sort(perm)
		want := make([]uint32, k.Len())
		for i := range want {
			want[i] = uint32(i)
		}
		slices.SortStableFunc(want, func(a, b uint32) int { return bytes.Compare(k.Bytes(a), k.Bytes(b)) })
		require.Equal(t, want, perm, round)
	}
	k.Release()
}

func TestCutPoints(t *testing.T) {
	k := keysOf("d", "a", "b", "a", "c", "a") // sorted: a1 a3 a5 b2 c4 d0
	perm := k.Sort(nil)
	sizes := []uint32{10, 10, 10, 10, 10, 10}
	for _, c := range []struct {
		rows, size int
		want       []int
	}{
		{100, 1000, []int{0}},
		{3, 1000, []int{0, 3}},
		{2, 1000, []int{0, 3, 5}},
		{4, 1000, []int{0, 4}},
		{1, 1000, []int{0, 3, 4, 5}}, // equal keys stay together
		{100, 20, []int{0, 3, 5}},
		{100, 50, []int{0, 5}},
		{100, 1, []int{0, 3, 4, 5}},
	} {
		require.Equal(t, c.want, k.CutPoints(nil, perm, sizes, c.rows, c.size), "%+v", c)
	}
	require.Empty(t, k.CutPoints(nil, nil, nil, 1, 1))

	// A run of equal keys that begins within the limits moves to the next chunk.
	k = keysOf("a", "b", "b", "b", "c")
	require.Equal(t, []int{0, 1, 4}, k.CutPoints(nil, k.Sort(nil), []uint32{1, 1, 1, 1, 1}, 3, 100))
	require.Equal(t, []int{7, 0, 4}, k.CutPoints([]int{7}, k.Sort(nil), []uint32{1, 1, 1, 1, 1}, 4, 100))
}

// S16: equal keys are never separated, no row is lost, and limits hold where
// equal keys allow it.
func TestS16CutPointsKeepEqualKeysTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		k, sizes := new(Keys), []uint32(nil)
		for range 1 + random.IntN(100) {
			k.Append([]byte{byte(random.IntN(20))})
			sizes = append(sizes, uint32(1+random.IntN(50)))
		}
		perm := k.Sort(nil)
		rows, size := 1+random.IntN(20), 1+random.IntN(300)
		cuts := append(k.CutPoints(nil, perm, sizes, rows, size), len(perm))
		require.Zero(t, cuts[0])
		for i := 1; i < len(cuts); i++ {
			require.Less(t, cuts[i-1], cuts[i])
			chunk := perm[cuts[i-1]:cuts[i]]
			if cuts[i] < len(perm) {
				require.NotEqual(t, k.Bytes(chunk[len(chunk)-1]), k.Bytes(perm[cuts[i]]))
			}
			total := 0
			for _, index := range chunk {
				total += int(sizes[index])
			}
			if !bytes.Equal(k.Bytes(chunk[0]), k.Bytes(chunk[len(chunk)-1])) {
				require.LessOrEqual(t, len(chunk), rows)
				require.LessOrEqual(t, total, size)
			}
		}
	}
}

func BenchmarkSort(b *testing.B) {
	const rows = 1_000_000
	random := rand.New(rand.NewPCG(5, 6))
	for name, key := range map[string]func(dst []byte, i int) []byte{
		"bigint": func(dst []byte, _ int) []byte { return binary.BigEndian.AppendUint64(dst, random.Uint64()) },
		"words": func(dst []byte, i int) []byte {
			dst = fmt.Appendf(dst, "common%05d\x00", random.IntN(50_000))
			return binary.BigEndian.AppendUint32(dst, uint32(i))
		},
		"sorted": func(dst []byte, i int) []byte { return binary.BigEndian.AppendUint64(dst, uint64(i)) },
	} {
		b.Run(name, func(b *testing.B) {
			var k Keys
			var buf []byte
			for i := range rows {
				buf = key(buf[:0], i)
				k.Append(buf)
			}
			perm := k.Sort(nil)
			b.ReportAllocs()
			for b.Loop() {
				perm = k.Sort(perm)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
