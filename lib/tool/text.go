package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// List splits a comma separated flag value. Empty parts are left out.
func List(s string) []string {
	var list []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// ChoiceFlag returns a flag whose value is one of choices; anything else is a usage error,
// and completion offers them. An empty default stands for "not given".
// Further names stand behind the first: "callgraph, call-graph".
func ChoiceFlag(names, usage, value string, choices ...string) cli.Flag {
	all := List(names)
	return &cli.GenericFlag{Name: all[0], Aliases: all[1:], Usage: usage, Value: &choice{value, choices}}
}

type choice struct {
	value   string
	choices []string
}

// Set takes the value if it is one of the choices.
func (c *choice) Set(s string) error {
	if !slices.Contains(c.choices, s) {
		return fmt.Errorf("it is one of %s", strings.Join(c.choices, ", "))
	}
	c.value = s
	return nil
}

func (c *choice) String() string { return c.value }
