package main

import (
	"go/ast"
	"go/token"
	"maps"
	"strings"
)

// decl is one declaration of impl/indexing.
type decl struct {
	in   *source
	node ast.Decl
	name string // "T.M" for a method
	doc  *ast.CommentGroup
}

// indexingFile returns index_values.go: the declarations of impl/indexing that the
// files uses need, directly or by other declarations.
func indexingFile(dir string, uses []*ast.File) (file, error) {
	sources, err := parseDir(dir, "indexing.")
	if err != nil {
		return file{}, err
	}
	var all []decl
	for _, s := range sources {
		for _, d := range s.syntax.Decls {
			all = append(all, declsOf(s, d)...)
		}
	}
	wanted, mentioned := map[string]bool{}, map[string]bool{}
	for _, f := range uses {
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				mentioned[s.Sel.Name] = true
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "indexing" {
					wanted[s.Sel.Name] = true
				}
			}
			return true
		})
	}
	kept := map[int]bool{}
	for grown := true; grown; {
		grown = false
		for i, d := range all {
			receiver, method, isMethod := strings.Cut(d.name, ".")
			if kept[i] || !wanted[receiver] || isMethod && !mentioned[method] {
				continue
			}
			kept[i], grown = true, true
			ast.Inspect(d.node, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					mentioned[n.Sel.Name] = true
				case *ast.Ident:
					wanted[n.Name] = true
				}
				return true
			})
		}
	}

	merged := &source{imports: map[string]bool{}}
	var body strings.Builder
	for i, d := range all {
		if !kept[i] {
			continue
		}
		d.in.edits = nil
		if err := d.in.change(d.node); err != nil {
			return file{}, err
		}
		for path, needed := range d.in.imports {
			merged.imports[path] = merged.imports[path] || needed
		}
		if d.doc != nil {
			body.WriteString(renameIn(d.in.text[d.in.offset(d.doc.Pos()):d.in.offset(d.doc.End())]) + "\n")
		}
		from, to := d.in.offset(d.node.Pos()), d.in.offset(d.node.End())
		var own []edit
		for _, e := range d.in.edits {
			if from <= e.from && e.to <= to {
				own = append(own, edit{e.from - from, e.to - from, e.text})
			}
		}
		body.WriteString(apply(d.in.text[from:to], own) + "\n\n")
	}
	const name = "index_values.go"
	text, err := merged.finish("package lockfree\n\n"+merged.importBlock()+"\n"+body.String(), name)
	return file{name, text}, err
}

// declsOf returns a declaration under the name that uses of it have.
func declsOf(s *source, d ast.Decl) []decl {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []decl{{s, d, funcName(d), d.Doc}}
	case *ast.GenDecl:
		if d.Tok == token.IMPORT || len(d.Specs) != 1 {
			return nil
		}
		switch spec := d.Specs[0].(type) {
		case *ast.TypeSpec:
			return []decl{{s, d, spec.Name.Name, d.Doc}}
		case *ast.ValueSpec:
			return []decl{{s, d, spec.Names[0].Name, d.Doc}}
		}
	}
	return nil
}

// renameIn renames what a comment of indexing speaks of.
func renameIn(comment string) string {
	names := map[string]string{}
	for name, to := range maps.All(renamed) {
		if from, ok := strings.CutPrefix(name, "indexing."); ok {
			names[from] = to
		}
	}
	var out strings.Builder
	word := ""
	for _, r := range comment + "\x00" {
		if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			word += string(r)
			continue
		}
		if to, ok := names[word]; ok {
			word = to
		}
		out.WriteString(word)
		if word = ""; r != 0 {
			out.WriteRune(r)
		}
	}
	return out.String()
}
