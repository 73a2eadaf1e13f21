package report

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

const docComment = `/\*\*(?:[^*]|\*+[^*/])*\*+/`

var (
	importLine  = regexp.MustCompile(`(?m)^import \{([^}]*)\} from '\./([a-z]+\.js)';\n`)
	exportWord  = regexp.MustCompile(`(?m)^export ((?:async )?function|class|const|let) `)
	declaration = regexp.MustCompile(`(?m)^(export )?(?:async )?(?:function|class|const|let|var) ([\w$]+)`)
	docBlock    = regexp.MustCompile(`(?m)^[ \t]*` + docComment + `[ \t]*\n`)
	docInline   = regexp.MustCompile(docComment + ` ?`)
	leftOver    = regexp.MustCompile(`(?m)^(?:import|export)\b.*|^(?:const|let|var) [^\w$].*`)
)

// bundle joins the ES module entry and what it imports into one classic script.
//
// The modules keep to a subset, and bundle returns an error for anything else: imports are
// `import { a, b } from './x.js';` at the beginning of a line, exports are declarations,
// no two modules declare the same name, and imports do not go round in circles. Then the
// modules in the order of their imports, inside one function, mean what they meant apart.
// Doc comments, a third of the text, stay behind: no string of a module may hold their
// beginning.
func bundle(fsys fs.FS, entry string) (string, error) {
	b := bundler{fsys: fsys, state: map[string]int{}, exports: map[string]map[string]bool{}, owner: map[string]string{}}
	if err := b.add(entry); err != nil {
		return "", err
	}
	return "'use strict';\n(() => {\n" + b.out.String() + "})();\n", nil
}

const (
	adding = 1 + iota
	added
)

type bundler struct {
	fsys    fs.FS
	out     strings.Builder
	state   map[string]int
	exports map[string]map[string]bool
	owner   map[string]string // top-level name -> module
}

func (b *bundler) add(name string) error {
	switch b.state[name] {
	case adding:
		return fmt.Errorf("%s imports itself, by way of what it imports", name)
	case added:
		return nil
	}
	b.state[name] = adding
	data, err := fs.ReadFile(b.fsys, name)
	if err != nil {
		return err
	}
	src := docInline.ReplaceAllString(docBlock.ReplaceAllString(string(data), ""), "")
	for _, m := range importLine.FindAllStringSubmatch(src, -1) {
		from := path.Clean(m[2])
		if err := b.add(from); err != nil {
			return err
		}
		for _, n := range strings.Split(m[1], ",") {
			if n = strings.TrimSpace(n); n != "" && !b.exports[from][n] {
				return fmt.Errorf("%s imports %q, which %s does not export", name, n, from)
			}
		}
	}
	src = importLine.ReplaceAllString(src, "")
	b.exports[name] = map[string]bool{}
	for _, m := range declaration.FindAllStringSubmatch(src, -1) {
		if other, ok := b.owner[m[2]]; ok {
			return fmt.Errorf("%s and %s both declare %s", other, name, m[2])
		}
		b.owner[m[2]] = name
		if m[1] != "" {
			b.exports[name][m[2]] = true
		}
	}
	src = exportWord.ReplaceAllString(src, "$1 ")
	if bad := leftOver.FindString(src); bad != "" {
		return fmt.Errorf("%s: %q is not in the subset that can be joined", name, bad)
	}
	fmt.Fprintf(&b.out, "// --- %s\n%s", name, src)
	b.state[name] = added
	return nil
}
