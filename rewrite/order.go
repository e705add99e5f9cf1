package rewrite

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// Keys is an arena of keys, numbered from 0 in the order in which they were
// appended. It holds up to 4 GiB. The zero value is ready for use.
type Keys struct {
	bytes   []byte
	ends    []uint32
	scratch []sortItem
}

// sortItem is a key number with eight bytes of its key.
type sortItem struct {
	word  uint64
	index uint32
}

// Append copies a key. It reports false, and appends nothing, when the arena
// is full: the window is to be sealed.
func (k *Keys) Append(key []byte) bool {
	if uint64(len(k.bytes))+uint64(len(key)) > math.MaxUint32 || len(k.ends) == math.MaxUint32 {
		return false
	}
	k.bytes = append(k.bytes, key...)
	k.ends = append(k.ends, uint32(len(k.bytes)))
	return true
}

// Len is the number of keys.
func (k *Keys) Len() int { return len(k.ends) }

// Size is the memory that the keys take, without what Sort needs besides.
func (k *Keys) Size() int { return len(k.bytes) + 4*len(k.ends) }

// Reset empties k and keeps its memory.
func (k *Keys) Reset() { k.bytes, k.ends = k.bytes[:0], k.ends[:0] }

// Bytes returns key i, valid until Reset.
func (k *Keys) Bytes(i uint32) []byte {
	if i == 0 {
		return k.bytes[:k.ends[0]]
	}
	return k.bytes[k.ends[i-1]:k.ends[i]]
}

// Sort writes the numbers of the keys to perm, which it grows as needed, in
// ascending order of the keys and, of equal keys, in the order of appending.
func (k *Keys) Sort(perm []uint32) []uint32 {
	perm = slices.Grow(perm[:0], k.Len())[:k.Len()]
	if k.Sorted() {
		for i := range perm {
			perm[i] = uint32(i)
		}
		return perm
	}
	k.scratch = slices.Grow(k.scratch[:0], len(perm))[:len(perm)]
	for i := range k.scratch {
		k.scratch[i].index = uint32(i)
	}
	k.sort(k.scratch, 0)
	for i := range perm {
		perm[i] = k.scratch[i].index
	}
	return perm
}

// Release frees the memory that Sort keeps for the next call.
func (k *Keys) Release() { k.scratch = nil }

// Sorted reports whether the keys are in ascending order as appended, as those
// of most dumps are.
func (k *Keys) Sorted() bool {
	if len(k.ends) == 0 {
		return true
	}
	last := k.bytes[:k.ends[0]]
	for i := 1; i < len(k.ends); i++ {
		key := k.bytes[k.ends[i-1]:k.ends[i]]
		if bytes.Compare(last, key) > 0 {
			return false
		}
		last = key
	}
	return true
}

// sort orders items whose keys agree in the first depth bytes. It looks at
// eight bytes of each key at a time, held beside the key's number, so that
// comparing does not touch the arena.
func (k *Keys) sort(items []sortItem, depth int) {
	for i := range items {
		items[i].word = wordAt(k.Bytes(items[i].index), depth)
	}
	slices.SortFunc(items, func(a, b sortItem) int {
		if c := cmp.Compare(a.word, b.word); c != 0 {
			return c
		}
		return cmp.Compare(a.index, b.index)
	})
	for start := 0; start < len(items); {
		end := start + 1
		for end < len(items) && items[end].word == items[start].word {
			end++
		}
		if end-start > 1 {
			k.sortEqual(items[start:end], depth+8)
		}
		start = end
	}
}

// sortEqual orders items whose keys agree up to depth, the shorter ones filled
// up with zeros.
func (k *Keys) sortEqual(items []sortItem, depth int) {
	longer := 0
	for i := range items {
		if len(k.Bytes(items[i].index)) > depth {
			longer++
		}
	}
	switch {
	case longer == len(items) && longer <= 16, longer > 0 && longer < len(items):
		slices.SortFunc(items, func(a, b sortItem) int {
			if c := bytes.Compare(k.Bytes(a.index), k.Bytes(b.index)); c != 0 {
				return c
			}
			return cmp.Compare(a.index, b.index)
		})
	case longer > 0:
		k.sort(items, depth)
	default: // all end here: a key that ends in zeros follows the one without
		slices.SortFunc(items, func(a, b sortItem) int {
			if c := cmp.Compare(len(k.Bytes(a.index)), len(k.Bytes(b.index))); c != 0 {
				return c
			}
			return cmp.Compare(a.index, b.index)
		})
	}
}

// wordAt is the big-endian word at depth, zeros where the key has ended.
func wordAt(key []byte, depth int) uint64 {
	if len(key) >= depth+8 {
		return binary.BigEndian.Uint64(key[depth:])
	}
	var word uint64
	if depth < len(key) {
		for i, b := range key[depth:] {
			word |= uint64(b) << (56 - 8*i)
		}
	}
	return word
}

// CutPoints appends to dst the positions in perm at which the chunks of a
// sorted window begin, the first being 0. A chunk has at least one row and, as
// long as equal keys allow it, at most rows rows and size bytes; sizes[i] is
// the size of the row with key i. Equal keys are never separated, which only
// means something while every key is exact: a window with any other key must
// not be cut (S16).
func (k *Keys) CutPoints(dst []int, perm, sizes []uint32, rows, size int) []int {
	if len(perm) == 0 {
		return dst
	}
	dst = append(dst, 0)
	start, group := 0, 0 // of the chunk, and of the run of equal keys
	total, groupTotal := 0, 0
	for i, index := range perm {
		if i > 0 && !bytes.Equal(k.Bytes(index), k.Bytes(perm[i-1])) {
			group, groupTotal = i, 0
		}
		total += int(sizes[index])
		groupTotal += int(sizes[index])
		if (i-start >= rows || total > size) && group > start {
			dst = append(dst, group)
			start, total = group, groupTotal
		}
	}
	return dst
}
