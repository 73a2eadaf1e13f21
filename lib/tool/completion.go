package tool

import (
	"fmt"
	"strings"
)

// completion returns a script that completes the command's flags, the values of those
// that have a fixed set, and file names.
func (c *Command) completion(shell string) (string, error) {
	all := rows(c.allFlags())
	switch shell {
	case "bash":
		return c.bash(all), nil
	case "zsh":
		return c.zsh(all), nil
	case "fish":
		return c.fish(all), nil
	}
	return "", Usagef("--completion: it is one of bash, zsh, fish")
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func (r flagRow) dashedNames() []string {
	var names []string
	for _, n := range r.names {
		names = append(names, dashed(n))
	}
	return names
}

func (c *Command) bash(all []flagRow) string {
	fn := "_" + strings.ReplaceAll(c.Name, "-", "_")
	var b strings.Builder
	fmt.Fprintf(&b, "# bash completion of %s\n%s() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n\tcase $prev in\n", c.Name, fn)
	var words []string
	for _, r := range all {
		words = append(words, r.dashedNames()...)
		if len(r.choices) > 0 {
			fmt.Fprintf(&b, "\t%s)\n\t\tmapfile -t COMPREPLY < <(compgen -W '%s' -- \"$cur\")\n\t\treturn\n\t\t;;\n", strings.Join(r.dashedNames(), " | "), strings.Join(r.choices, " "))
		}
	}
	fmt.Fprintf(&b, "\tesac\n\tif [[ $cur == -* ]]; then\n\t\tmapfile -t COMPREPLY < <(compgen -W '%s' -- \"$cur\")\n\telse\n\t\tcompopt -o filenames 2>/dev/null\n\t\tmapfile -t COMPREPLY < <(compgen %s -- \"$cur\")\n\tfi\n}\ncomplete -F %s %s\n",
		strings.Join(words, " "), c.bashWords(), fn, c.Name)
	return b.String()
}

func (c *Command) bashWords() string {
	if c.Args {
		return "-A command -f"
	}
	return "-f"
}

func (c *Command) zsh(all []flagRow) string {
	quote := strings.NewReplacer("'", `'\''`, "[", `\[`, "]", `\]`, ":", `\:`)
	var b strings.Builder
	fmt.Fprintf(&b, "#compdef %s\n_arguments \\\n", c.Name)
	for _, r := range all {
		for _, n := range r.dashedNames() {
			fmt.Fprintf(&b, "\t'%s[%s]", n, quote.Replace(r.usage))
			switch {
			case len(r.choices) > 0:
				fmt.Fprintf(&b, ":%s:(%s)", quote.Replace(r.value), strings.Join(r.choices, " "))
			case r.value != "":
				fmt.Fprintf(&b, ":%s:_files", quote.Replace(r.value))
			}
			b.WriteString("' \\\n")
		}
	}
	if c.Args {
		b.WriteString("\t'*::command:_normal'\n")
	} else {
		b.WriteString("\t'*:file:_files'\n")
	}
	return b.String()
}

func (c *Command) fish(all []flagRow) string {
	quote := strings.NewReplacer(`\`, `\\`, "'", `\'`)
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "complete -c %s", c.Name)
		for _, n := range r.names {
			if len(n) == 1 {
				fmt.Fprintf(&b, " -s %s", n)
			} else {
				fmt.Fprintf(&b, " -l %s", n)
			}
		}
		if r.value != "" {
			b.WriteString(" -r")
		}
		if len(r.choices) > 0 {
			fmt.Fprintf(&b, " -x -a '%s'", strings.Join(r.choices, " "))
		}
		fmt.Fprintf(&b, " -d '%s'\n", quote.Replace(r.usage))
	}
	return b.String()
}
