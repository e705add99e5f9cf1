package index

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
)

// Options says which text is indexed and how much of it.
type Options struct {
	Root string // a directory of source text, for instance GOROOT/src
	Rows int    // stop at the end of the file that reaches so many rows
}

// Summary says what was written.
type Summary struct {
	Rows  int
	Words int // distinct words, letter case apart
	Files int // the last one's location_id
}

// stride is the distance between two files that are indexed one after the
// other. A short index then still covers the whole tree and its vocabulary.
const stride = 16

// maxWord is the width of the column word in bytes.
const maxWord = 64

// Write writes the rows as lines of word, score, location_id and y with tabs
// between. Words that differ only in letter case are rows of their own, as
// they are for a simple tokenizer; a case-insensitive primary key keeps the first.
func Write(w io.Writer, options Options) (Summary, error) {
	paths, err := textFiles(options.Root)
	if err != nil {
		return Summary{}, err
	}
	out := bufio.NewWriterSize(w, 1<<20)
	var summary Summary
	vocabulary := map[string]struct{}{}
	for offset := 0; offset < stride && summary.Rows < options.Rows; offset++ {
		for i := offset; i < len(paths) && summary.Rows < options.Rows; i += stride {
			text, err := os.ReadFile(paths[i])
			if err != nil {
				return Summary{}, fmt.Errorf("index %s: %w", paths[i], err)
			}
			n, err := writeFile(out, text, summary.Files+1, vocabulary)
			if err != nil {
				return Summary{}, fmt.Errorf("write the index: %w", err)
			}
			if n == 0 {
				continue
			}
			summary.Rows += n
			summary.Files++
		}
	}
	summary.Words = len(vocabulary)
	if summary.Rows == 0 {
		return Summary{}, fmt.Errorf("index %s: no text found", options.Root)
	}
	if err := out.Flush(); err != nil {
		return Summary{}, fmt.Errorf("write the index: %w", err)
	}
	return summary, nil
}

// textFiles lists the files with source text or documentation in walking order.
func textFiles(root string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		switch filepath.Ext(path) {
		case ".go", ".s", ".md", ".txt", ".html", ".c", ".h":
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", root, err)
	}
	return paths, nil
}

// writeFile writes the rows of one file in the order in which its words first
// occur, and gives their number.
func writeFile(out *bufio.Writer, text []byte, location int, vocabulary map[string]struct{}) (int, error) {
	counts := map[string]int{}
	var order []string
	total := 0
	for rest := text; ; {
		word, after := nextWord(rest)
		if word == nil {
			break
		}
		rest = after
		total++
		key := string(word)
		if counts[key] == 0 {
			order = append(order, key)
		}
		counts[key]++
	}
	year := yearOf(text)
	var line []byte
	for _, word := range order {
		vocabulary[string(bytes.ToLower([]byte(word)))] = struct{}{}
		weight := (1 + math.Log(float64(counts[word]))) / math.Sqrt(float64(total))
		line = append(line[:0], word...)
		line = append(line, '\t')
		line = strconv.AppendFloat(line, weight, 'f', 5, 64)
		line = append(line, '\t')
		line = strconv.AppendInt(line, int64(location), 10)
		line = append(line, '\t')
		line = strconv.AppendInt(line, int64(year), 10)
		line = append(line, '\n')
		if _, err := out.Write(line); err != nil {
			return 0, err
		}
	}
	return len(order), nil
}

// nextWord finds the first word of two bytes or more: a letter or underscore,
// then letters, digits, underscores and single inner apostrophes. Longer words
// are cut to the column's width. The word is a slice of text.
func nextWord(text []byte) (word, rest []byte) {
	for i := 0; i < len(text); i++ {
		if !starts(text[i]) {
			continue
		}
		end := i + 1
		for end < len(text) && (starts(text[end]) || isDigit(text[end]) || innerApostrophe(text, end)) {
			end++
		}
		if end-i >= 2 {
			return text[i:min(end, i+maxWord)], text[end:]
		}
		i = end
	}
	return nil, nil
}

func starts(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// innerApostrophe tells whether the apostrophe at i stands in a word like "don't".
func innerApostrophe(text []byte, i int) bool {
	return text[i] == '\'' && i+1 < len(text) && starts(text[i+1]) && starts(text[i-1]) &&
		(i+2 >= len(text) || text[i+2] != '\'')
}

// yearOf reads the year out of the file's copyright line; 0 when there is none.
func yearOf(text []byte) int {
	_, after, found := bytes.Cut(text[:min(len(text), 1024)], []byte("Copyright "))
	if !found || len(after) < 4 {
		return 0
	}
	year, err := strconv.Atoi(string(after[:4]))
	if err != nil || year < 1900 || year > 2155 {
		return 0
	}
	return year
}
