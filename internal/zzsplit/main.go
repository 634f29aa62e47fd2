// Command zzsplit (temporary) splits a package by a plan.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/packages"
)

const module = "github.com/informerbench/informerbench"

type edit struct {
	at, end int
	text    string
}

func main() {
	planFile := flag.String("plan", "", "")
	apply := flag.Bool("apply", false, "")
	flag.Parse()
	var src string
	moves := map[string]string{}   // base name -> new package, relative
	renames := map[string]string{} // Name or Type.name -> new
	b, err := os.ReadFile(*planFile)
	must(err)
	sc := bufio.NewScanner(bytes.NewReader(b))
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		switch f[0] {
		case "src":
			src = f[1]
		case "move": // move pkg file...
			for _, n := range f[2:] {
				moves[n] = f[1]
			}
		case "rename":
			for _, r := range f[1:] {
				o, n, _ := strings.Cut(r, "=")
				renames[o] = n
			}
		default:
			panic(sc.Text())
		}
	}
	srcPath := module + "/" + src
	cfg := &packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps, Tests: true, Dir: "."}
	pkgs, err := packages.Load(cfg, "./...")
	must(err)
	root, _ := os.Getwd()
	newPkg := func(file string) string {
		rel, _ := filepath.Rel(root, file)
		if filepath.Dir(rel) == src {
			if p, ok := moves[filepath.Base(rel)]; ok {
				return p
			}
		}
		return filepath.Dir(rel)
	}
	edits := map[string]map[edit]bool{}
	needs := map[string]map[string]bool{}
	add := func(file string, e edit) {
		if edits[file] == nil {
			edits[file] = map[edit]bool{}
		}
		edits[file][e] = true
	}
	problems := map[string]bool{}
	seen := map[string]bool{}
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			fmt.Println(p.Errors)
			os.Exit(1)
		}
		fset := p.Fset
		// names of objects by position
		qualified := map[token.Pos]string{}
		noteScope := func(sp *types.Package) {
			for _, n := range sp.Scope().Names() {
				o := sp.Scope().Lookup(n)
				qualified[o.Pos()] = n
				tn, ok := o.(*types.TypeName)
				if !ok {
					continue
				}
				named, ok := tn.Type().(*types.Named)
				if !ok {
					continue
				}
				for i := range named.NumMethods() {
					qualified[named.Method(i).Pos()] = n + "." + named.Method(i).Name()
				}
				switch u := named.Underlying().(type) {
				case *types.Struct:
					for i := range u.NumFields() {
						if !u.Field(i).Embedded() {
							qualified[u.Field(i).Pos()] = n + "." + u.Field(i).Name()
						}
					}
				case *types.Interface:
					for i := range u.NumExplicitMethods() {
						qualified[u.ExplicitMethod(i).Pos()] = n + "." + u.ExplicitMethod(i).Name()
					}
				}
			}
		}
		if strings.TrimSuffix(p.Types.Path(), "_test") == srcPath || p.PkgPath == srcPath {
			noteScope(p.Types)
		}
		for _, im := range p.Types.Imports() {
			if im.Path() == srcPath {
				noteScope(im)
			}
		}
		if imp, ok := p.Imports[srcPath]; ok && imp.Types != nil {
			noteScope(imp.Types)
		}
		nameOf := func(o types.Object) (string, bool) {
			if v, ok := o.(*types.Var); ok && v.Embedded() {
				t := v.Type()
				if pt, ok := t.(*types.Pointer); ok {
					t = pt.Elem()
				}
				if n, ok := t.(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == srcPath {
					if r, ok := renames[n.Obj().Name()]; ok {
						return r, true
					}
				}
				return o.Name(), false
			}
			switch oo := o.(type) {
			case *types.Var:
				o = oo.Origin()
			case *types.Func:
				o = oo.Origin()
			}
			q, ok := qualified[o.Pos()]
			if !ok {
				return o.Name(), false
			}
			r, ok := renames[q]
			if ok {
				return r, true
			}
			return o.Name(), false
		}
		for _, f := range p.Syntax {
			file := fset.Position(f.Pos()).Filename
			if !strings.HasPrefix(file, root) || strings.Contains(file, "zzsplit") {
				continue
			}
			own := newPkg(file)
			off := func(x token.Pos) int { return fset.Position(x).Offset }
			rel, _ := filepath.Rel(root, file)
			inSrc := filepath.Dir(rel) == src
			if inSrc && own != src {
				name := f.Name.Name
				base := filepath.Base(own)
				if strings.HasSuffix(name, "_test") {
					base += "_test"
				}
				add(file, edit{off(f.Name.Pos()), off(f.Name.End()), base})
			}
			external := strings.HasSuffix(f.Name.Name, "_test")
			sel := map[*ast.Ident]*ast.SelectorExpr{}
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok {
						if _, ok := p.TypesInfo.Uses[x].(*types.PkgName); ok {
							sel[s.Sel] = s
						}
					}
				}
				return true
			})
			visit := func(id *ast.Ident, o types.Object, def bool) {
				if o == nil || o.Pkg() == nil || o.Pkg().Path() != srcPath {
					return
				}
				oo := o
				switch v := o.(type) {
				case *types.Var:
					oo = v.Origin()
				case *types.Func:
					oo = v.Origin()
				}
				declFile := fset.Position(oo.Pos()).Filename
				if declFile == "" {
					return
				}
				d := newPkg(declFile)
				name, renamed := nameOf(o)
				if renamed {
					add(file, edit{off(id.Pos()), off(id.End()), name})
				}
				if def {
					return
				}
				packageLevel := o.Parent() == o.Pkg().Scope()
				foreign := d != own || external
				if foreign && !ast.IsExported(name) {
					if q, ok := qualified[oo.Pos()]; ok {
						problems[fmt.Sprintf("unexported %s (%s) used in %s (%s)", q, d, filepath.Base(file), own)] = true
					} else if v, ok := o.(*types.Var); ok && v.Embedded() {
						problems[fmt.Sprintf("unexported embedded %s (%s) used in %s (%s)", name, d, filepath.Base(file), own)] = true
					}
				}
				if !packageLevel {
					return
				}
				if s := sel[id]; s != nil { // qualified already
					x := s.X.(*ast.Ident)
					if d != src {
						add(file, edit{off(x.Pos()), off(x.End()), filepath.Base(d)})
						need(needs, file, d)
						shadow(p, f, id.Pos(), filepath.Base(d), file, problems, fset)
					}
					return
				}
				if foreign && d != own {
					add(file, edit{off(id.Pos()), off(id.Pos()), filepath.Base(d) + "."})
					need(needs, file, d)
					shadow(p, f, id.Pos(), filepath.Base(d), file, problems, fset)
				}
			}
			for id, o := range p.TypesInfo.Uses {
				if fset.Position(id.Pos()).Filename == file {
					visit(id, o, false)
				}
			}
			for id, o := range p.TypesInfo.Defs {
				if fset.Position(id.Pos()).Filename == file {
					visit(id, o, true)
				}
			}
			seen[file] = true
		}
	}
	var out []string
	for s := range problems {
		out = append(out, s)
	}
	sort.Strings(out)
	for _, s := range out {
		fmt.Println(s)
	}
	if !*apply {
		fmt.Println(len(edits), "files would change")
		return
	}
	for file := range seen {
		rel, _ := filepath.Rel(root, file)
		moving := filepath.Dir(rel) == src && moves[filepath.Base(rel)] != ""
		if len(edits[file]) == 0 && !moving {
			continue
		}
		text, err := os.ReadFile(file)
		must(err)
		var es []edit
		for e := range edits[file] {
			es = append(es, e)
		}
		sort.Slice(es, func(i, j int) bool {
			if es[i].at != es[j].at {
				return es[i].at > es[j].at
			}
			return es[i].end > es[j].end
		})
		// an insertion and a replacement at one place: the replacement first
		for _, e := range es {
			text = append(text[:e.at:e.at], append([]byte(e.text), text[e.end:]...)...)
		}
		fs := token.NewFileSet()
		f, err := parser.ParseFile(fs, file, text, parser.ParseComments)
		if err != nil {
			fmt.Println(file, err)
			_ = os.WriteFile(file+".broken", text, 0o644)
			continue
		}
		for n := range needs[file] {
			if newPkg(file) != n || strings.HasSuffix(f.Name.Name, "_test") {
				astutil.AddImport(fs, f, module+"/"+n)
			}
		}
		if !usesBase(f, filepath.Base(src)) {
			astutil.DeleteImport(fs, f, srcPath)
		}
		var buf bytes.Buffer
		must(format.Node(&buf, fs, f))
		must(os.WriteFile(file, buf.Bytes(), 0o644))
		if moving {
			to := moves[filepath.Base(rel)]
			must(os.MkdirAll(to, 0o755))
			if o, err := exec.Command("git", "mv", rel, filepath.Join(to, filepath.Base(rel))).CombinedOutput(); err != nil {
				fmt.Println(string(o), err)
			}
		}
	}
}

func usesBase(f *ast.File, name string) bool {
	used := false
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == name && x.Obj == nil {
				used = true
			}
		}
		return true
	})
	return used
}

func shadow(p *packages.Package, f *ast.File, pos token.Pos, name, file string, problems map[string]bool, fset *token.FileSet) {
	scope := p.TypesInfo.Scopes[f]
	inner := scope.Innermost(pos)
	if inner == nil {
		return
	}
	if _, o := inner.LookupParent(name, pos); o != nil {
		problems[fmt.Sprintf("shadowed: %s at %s by %v", name, fset.Position(pos), fset.Position(o.Pos()))] = true
	}
}

func need(needs map[string]map[string]bool, file, d string) {
	if needs[file] == nil {
		needs[file] = map[string]bool{}
	}
	needs[file][d] = true
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
