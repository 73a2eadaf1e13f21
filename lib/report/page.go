package report

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"strings"
	"sync"

	"vperf/lib/printable"
)

//go:embed web/page.html web/style.css web/src/*.js
var web embed.FS

// asset is what every page shares.
type asset struct {
	page          *template.Template
	style, script string
	policy        string
}

var assets = sync.OnceValues(func() (asset, error) {
	src, err := fs.Sub(web, "web/src")
	if err != nil {
		return asset{}, err
	}
	script, err := bundle(src, "main.js")
	if err != nil {
		return asset{}, err
	}
	style, err := web.ReadFile("web/style.css")
	if err != nil {
		return asset{}, err
	}
	page, err := template.New("page.html").Funcs(template.FuncMap{
		"css": func(s string) template.CSS { return template.CSS(s) }, // our own style sheet, not the profile's
	}).ParseFS(web, "web/page.html")
	if err != nil {
		return asset{}, err
	}
	return asset{page, string(style), script, policy(script, string(style))}, nil
})

// policy forbids every request, and every script and style sheet but the page's own two;
// the worker that folds samples is started from a blob of the same script.
func policy(script, style string) string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) +
		"; worker-src blob:; base-uri 'none'; form-action 'none'"
}

// WriteHTML writes the page. title is shown in place of the command's name unless it is
// empty. It may be called once.
func (p *Profile) WriteHTML(w io.Writer, title string) error {
	a, err := assets()
	if err != nil {
		return err
	}
	p.finish()
	o, l := p.order(), p.timeline()
	v := p.view(printable.Page(strings.TrimSpace(title)), o, l)
	v.Policy, v.Style = a.policy, a.style
	out := bufio.NewWriterSize(w, 256<<10)
	if err := a.page.Execute(out, v); err != nil {
		return err
	}
	fmt.Fprint(out, `<script type="application/octet-stream" id="data">`)
	if err := p.pack(out, o, l); err != nil {
		return err
	}
	fmt.Fprint(out, "</script>\n<script>", a.script, "</script>\n</body>\n</html>\n")
	return out.Flush()
}
