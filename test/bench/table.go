package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// samples are the results of one leg over the runs.
type samples []float64

func (s samples) median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// spread gives the lowest and the highest as a person reads them.
func (s samples) spread() string {
	if len(s) < 2 {
		return ""
	}
	return number(slices.Min(s)) + " to " + number(slices.Max(s))
}

// number writes a figure with three digits at most behind a comma for thousands.
func number(f float64) string {
	text := strconv.FormatFloat(f, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// ratio writes a to b as "1.23x".
func ratio(a, b float64) string {
	if b == 0 {
		return ""
	}
	return strconv.FormatFloat(a/b, 'f', 2, 64) + "x"
}

// table is printed as Markdown, so that it can stand in RESULTS.md as it is.
type table struct {
	title string
	head  []string
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", t.title)
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(t.head)
	rule := make([]string, len(t.head))
	for i := range rule {
		rule[i] = "---"
	}
	line(rule)
	for _, row := range t.rows {
		line(row)
	}
	return b.String()
}
