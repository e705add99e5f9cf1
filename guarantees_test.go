package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A test that a document names is there. Behind the name of a directory it is in there:
// `test/fault` TestCrash.
func TestDocumentsNameTests(t *testing.T) {
	tests := testsByDirectory(t)
	everywhere := map[string]bool{}
	for _, names := range tests {
		for name := range names {
			everywhere[name] = true
		}
	}
	documents, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	decisions, err := filepath.Glob("docs/decisions/*.md")
	require.NoError(t, err)
	word := regexp.MustCompile("`([a-z/]+)`|\\b(?:Test|Fuzz)[A-Z]\\w*")
	named := 0
	for _, path := range append(append(documents, decisions...), "README.md") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			in, where := everywhere, "any directory"
			for _, match := range word.FindAllStringSubmatch(line, -1) {
				if directory := match[1]; directory != "" {
					if directory == "main" {
						directory = "."
					}
					if names, ok := tests[directory]; ok {
						in, where = names, directory
					}
					continue
				}
				named++
				if !in[match[0]] {
					t.Errorf("%s: there is no %s in %s", path, match[0], where)
				}
			}
		}
	}
	require.NotZero(t, named)
}

// testsByDirectory has the names of the functions in the tree's test files.
func testsByDirectory(t *testing.T) map[string]map[string]bool {
	t.Helper()
	tests := map[string]map[string]bool{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		directory := filepath.Dir(path)
		if tests[directory] == nil {
			tests[directory] = map[string]bool{}
		}
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil {
				tests[directory][f.Name.Name] = true
			}
		}
		return nil
	})
	require.NoError(t, err)
	return tests
}
