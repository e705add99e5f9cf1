package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sluice-db/sluice/test/demo/index"
)

const stopLimit = 30 * time.Second

// writeIndex writes the reverse index of Go's own source tree, about rows lines.
func writeIndex(ctx context.Context, rows int, path string) error {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("find Go's source tree: %w", err)
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the index: %w", err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	summary, err := index.Write(file, index.Options{Root: root, Rows: rows})
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if summary.Rows < rows {
		return fmt.Errorf("the index of %s has only %d rows of %d", root, summary.Rows, rows)
	}
	return nil
}

// writeRows writes two files: the rows that are in the table beforehand, in the
// order of its primary key, and those that the loaders send.
func (b *bench) writeRows(ctx context.Context) (base, rows string, err error) {
	whole := filepath.Join(b.dir, "index.tsv")
	if err := writeIndex(ctx, b.baseRows+b.rows, whole); err != nil {
		return "", "", err
	}
	file, err := os.Open(whole)
	if err != nil {
		return "", "", fmt.Errorf("split the index: %w", err)
	}
	defer file.Close()
	var first, second []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if len(first) < b.baseRows {
			first = append(first, lines.Text())
		} else if len(second) < b.rows {
			second = append(second, lines.Text())
		}
	}
	slices.SortStableFunc(first, func(a, b string) int {
		return cmp.Compare(strings.ToLower(a), strings.ToLower(b))
	})
	base, rows = filepath.Join(b.dir, "base.tsv"), filepath.Join(b.dir, "rows.tsv")
	for path, lines := range map[string][]string{base: first, rows: second} {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			return "", "", fmt.Errorf("split the index: %w", err)
		}
	}
	return base, rows, nil
}
