package index_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/demo/index"
)

// tree writes files below a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return root
}

func TestWriteOneRowPerWordAndFile(t *testing.T) {
	root := tree(t, map[string]string{
		"a.go":       "// Copyright 2009 X\nfunc func don't 'a' x1 Func " + strings.Repeat("w", 70),
		"b/c.txt":    "func y",
		"image.png":  "func func func",
		"d/empty.go": "",
	})
	var out bytes.Buffer
	summary, err := index.Write(&out, index.Options{Root: root, Rows: 1000})
	require.NoError(t, err)
	require.Equal(t, []string{
		"Copyright\t0.37796\t1\t2009",
		"func\t0.63995\t1\t2009",
		"don't\t0.37796\t1\t2009",
		"x1\t0.37796\t1\t2009",
		"Func\t0.37796\t1\t2009",
		strings.Repeat("w", 64) + "\t0.37796\t1\t2009",
		"func\t1.00000\t2\t0",
	}, strings.Split(strings.TrimRight(out.String(), "\n"), "\n"))
	require.Equal(t, 7, summary.Rows)
	require.Equal(t, 5, summary.Words)
	require.Equal(t, 2, summary.Files)
}

func TestWriteStopsAfterTheFileThatReachesRows(t *testing.T) {
	root := tree(t, map[string]string{"a.go": "aa bb cc", "b.go": "dd ee", "c.go": "ff"})
	summary, err := index.Write(&bytes.Buffer{}, index.Options{Root: root, Rows: 2})
	require.NoError(t, err)
	require.Equal(t, 3, summary.Rows)
}

func TestWriteSaysThatThereIsNoText(t *testing.T) {
	_, err := index.Write(&bytes.Buffer{}, index.Options{Root: t.TempDir(), Rows: 2})
	require.ErrorContains(t, err, "no text found")
}
