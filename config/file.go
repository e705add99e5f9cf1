package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// fileReader walks the syntax tree of a YAML file. It does not decode into a
// struct, since a decoder stops at the first mistake.
type fileReader struct {
	name     string
	draft    *draft
	problems *Problems
}

// read applies a file's text to the draft.
func (f *fileReader) read(text []byte) {
	// Keys given twice are found below, with the line of the first one.
	file, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		f.draft.meant = append(f.draft.meant, backendKey) // it may be named there
		// The error's own text quotes lines of the file, perhaps the password.
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil {
			f.problems.add(fmt.Sprintf("%s:%d", f.name, syntax.GetToken().Position.Line), "", "%s", yamlMessage(syntax))
		} else {
			f.problems.add(f.name, "", "not a YAML file")
		}
		return
	}
	read := false
	for _, document := range file.Docs {
		switch body := document.Body.(type) {
		case nil, *ast.CommentGroupNode, *ast.NullNode, *ast.DirectiveNode:
		default:
			if read {
				f.mistake(body, "", "a second document: one is all that is read")
				return
			}
			read = true
			entries, ok := mapping(body)
			if !ok {
				f.mistake(body, "", "not a mapping: write KEY: VALUE")
				return
			}
			f.settings("", entries, map[string]int{})
		}
	}
}

// yamlMessage is what the parser says, with what to look for.
func yamlMessage(err yaml.Error) string {
	message := err.GetMessage()
	if strings.Contains(message, "\t") {
		return "a tab: indent with blanks"
	}
	return "not valid YAML: " + message + "; look at the indentation and the quotes here and in the next line"
}

// settings applies a mapping whose keys stand for prefix+key.
func (f *fileReader) settings(prefix string, entries []*ast.MappingValueNode, seen map[string]int) {
	for _, entry := range entries {
		key, ok := f.key(entry)
		if !ok {
			continue
		}
		key = prefix + key
		if key == backendKey+".url" { // beside backend.password_file in one mapping
			key = backendKey
		}
		inner, isMapping := mapping(entry.Value)
		if isMapping && isGroup(key) {
			f.settings(key+".", inner, seen)
			continue
		}
		if f.twice(entry, key, seen) {
			continue
		}
		if key == rulesKey {
			f.rules(entry.Value)
			continue
		}
		s := find(key)
		switch {
		case s != nil:
			f.apply(entry.Value, key, s.at(f.draft), s.repeat)
		case isGroup(key):
			f.mistake(entry.Key, key, "this is a group of settings: nest them below it")
		default:
			f.mistake(entry.Key, "", "unknown key %s%s", key, f.suggest(key))
		}
	}
}

// suggest words what may stand where an unknown key stands.
func (f *fileReader) suggest(key string) string {
	names := append(append(keys(), groups()...), backendKey+".url")
	meant := closest(key, names)
	for _, m := range meant {
		f.draft.meant = append(f.draft.meant, strings.TrimSuffix(m, ".url"))
	}
	if group, _, nested := strings.Cut(key, "."); nested && len(meant) == 0 && isGroup(group) {
		for _, n := range names {
			if inner, ok := strings.CutPrefix(n, group+"."); ok {
				meant = append(meant, inner)
			}
		}
		return "; " + group + " has " + strings.Join(meant, ", ")
	}
	return didYouMean(meant)
}

// rules applies the list of rules.
func (f *fileReader) rules(node ast.Node) {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		f.mistake(node, rulesKey, "want a list, each entry a mapping")
		return
	}
	for i, item := range list.Values {
		name := fmt.Sprintf("%s[%d]", rulesKey, i)
		rule, before := Rule{}, len(*f.problems)
		entries, ok := mapping(item)
		if !ok {
			f.mistake(item, name, "want a mapping")
		}
		f.rule(&rule, name, "", entries, map[string]int{})
		// A rule that lacks something because of a mistake in it is not reported again.
		if len(*f.problems) == before {
			f.fail(item, name, rule.check())
		}
		f.draft.Rules = append(f.draft.Rules, rule)
	}
}

// rule applies the mapping of one rule.
func (f *fileReader) rule(r *Rule, name, prefix string, entries []*ast.MappingValueNode, seen map[string]int) {
	for _, entry := range entries {
		key, ok := f.key(entry)
		if !ok {
			continue
		}
		key = prefix + key
		if inner, isMapping := mapping(entry.Value); isMapping && key == "window" {
			f.rule(r, name, key+".", inner, seen)
			continue
		}
		if f.twice(entry, key, seen) {
			continue
		}
		known := false
		for _, s := range ruleSettings {
			if s.key == key {
				known = true
				f.apply(entry.Value, name+"."+key, s.at(r), false)
			}
		}
		if !known {
			f.mistake(entry.Key, name, "unknown key %s%s", key, didYouMean(closest(key, ruleKeys())))
		}
	}
}

// apply gives a value its texts.
func (f *fileReader) apply(node ast.Node, key string, v value, repeat bool) {
	items := []ast.Node{node}
	if list, ok := node.(*ast.SequenceNode); ok {
		if !repeat {
			f.mistake(node, key, "want one value, not a list")
			return
		}
		items = list.Values
	}
	texts := make([]string, 0, len(items))
	for _, item := range items {
		text, err := scalarText(item)
		if err != nil {
			f.fail(item, key, err)
			return
		}
		texts = append(texts, text)
	}
	f.draft.origin[key] = f.where(node)
	f.fail(node, key, v.SetAll(texts))
}

// key returns the text of an entry's key.
func (f *fileReader) key(entry *ast.MappingValueNode) (string, bool) {
	switch key := entry.Key.(type) {
	case *ast.StringNode:
		return key.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return key.GetToken().Value, true
	}
	f.mistake(entry.Key, "", "anchors, aliases and tags are not read: write the value out")
	return "", false
}

// twice reports a key that has a value already.
func (f *fileReader) twice(entry *ast.MappingValueNode, key string, seen map[string]int) bool {
	if line, ok := seen[key]; ok {
		f.mistake(entry.Key, key, "given twice, first in line %d", line)
		return true
	}
	seen[key] = entry.Key.GetToken().Position.Line
	return false
}

func (f *fileReader) mistake(node ast.Node, key, format string, args ...any) {
	f.problems.add(f.where(node), key, format, args...)
}

func (f *fileReader) fail(node ast.Node, key string, err error) {
	f.problems.fail(f.where(node), key, err)
}

func (f *fileReader) where(node ast.Node) string {
	if token := node.GetToken(); token != nil {
		return fmt.Sprintf("%s:%d", f.name, token.Position.Line)
	}
	return f.name
}

// mapping returns the entries of a node that is a mapping.
func mapping(node ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// scalarText returns the text of a node that is one value. Numbers and the like
// are taken as they are written: what a text means is the setting's business.
func scalarText(node ast.Node) (string, error) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, nil
	case *ast.NullNode:
		return "", errors.New("there is no value: leave the key out for the default")
	case *ast.MappingNode, *ast.MappingValueNode:
		return "", errors.New("want one value, not a mapping")
	case *ast.SequenceNode:
		return "", errors.New("want one value, not a list")
	}
	return "", errors.New("anchors, aliases and tags are not read: write the value out")
}

// find returns the setting with a key, or nil.
func find(key string) *setting {
	for _, s := range settings {
		if s.key == key {
			return s
		}
	}
	return nil
}

// groups lists what can hold settings: window, journal and so on.
func groups() []string {
	var list []string
	for _, s := range settings {
		if group, _, ok := strings.Cut(s.key, "."); ok && (len(list) == 0 || list[len(list)-1] != group) {
			list = append(list, group)
		}
	}
	return list
}

func isGroup(key string) bool {
	for _, s := range settings {
		if strings.HasPrefix(s.key, key+".") {
			return true
		}
	}
	return false
}
