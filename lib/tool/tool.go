// Package tool is what the vp-* commands share: flags, input, output, messages, exit
// statuses, help, man pages and completion. A command is a table and a function:
//
//	var command = &tool.Command{
//		Name:     "vp-count",
//		Summary:  "count the records of a stream",
//		Synopsis: "[flags] [FILE...]",
//		Inputs:   true,
//		Formats:  []string{"ndjson", "text"},
//		Run:      run,
//	}
//
//	func main() { os.Exit(tool.Main(command)) }
//
// Nothing below main exits. Run returns an error, or reports it with [Env.Fail] and goes
// on; Main turns it into a line on stderr, a hint and an exit status:
//
//	vp-count: run.ndjson:17: not a record
//	hint: ...
//
// Exit statuses are 0 for work that was done, 1 for work that failed, 2 for a command
// line that makes no sense, and what [Exit] says for commands that pass on another
// process's status. A reader that goes away (a broken pipe) is no failure.
//
// The package closes the traps of urfave/cli once: usage errors go to stderr, values are
// not split at commas (events hold commas), a file may be named "help", and flags may
// stand behind files.
package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"vperf/lib/printable"
	"vperf/lib/record"
)

// Version is set when a release is linked: -ldflags "-X vperf/lib/tool.Version=1.2.3".
var Version string

// version returns Version, or what the Go toolchain knows about the build.
func version() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// A Command describes one program.
type Command struct {
	Name     string
	Summary  string // a line, lower case, without period
	Synopsis string // what follows the name: "[flags] [FILE...]"
	Long     string // paragraphs for --help and the man page
	Examples []Example

	Flags   []cli.Flag // its own; the common ones are added
	Inputs  bool       // it reads FILE... or standard input
	Args    bool       // it takes a command line behind its flags, and handles signals itself
	Formats []string   // of its output; the first is the default, but "text" is on a terminal
	Records bool       // it passes records on: --drop makes sense

	Run func(*Env) error
}

// An Example is shown by --help and in the man page.
type Example struct{ Text, Command string }

// Main runs c with the arguments and standard streams of the process, and returns the exit
// status.
func Main(c *Command) int {
	return c.main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

func (c *Command) main(args []string, stdin, stdout, stderr *os.File) int {
	env := &Env{Stderr: stderr, cmd: c, stdin: stdin, stdout: stdout, unwatch: func() {}}
	err := c.parse(env, args)
	closeErr := env.finish(err)
	env.unwatch() // not before: a signal during the last write must find the temporary files
	var exit exitStatus
	if err == nil || closeErr != nil && errors.As(err, &exit) && !brokenPipe(closeErr) {
		err = closeErr // output that is lost is worse than what another process ended with
	}
	return env.status(err)
}

// parse runs the command line through urfave/cli, which calls c.Run.
func (c *Command) parse(env *Env, args []string) error {
	cli.HelpFlag = nil // else the library answers --help itself, on the error stream
	app := &cli.App{
		Name:                      c.Name,
		Flags:                     c.allFlags(),
		Writer:                    env.Stderr, // whatever the library prints unasked
		ErrWriter:                 env.Stderr,
		HideHelp:                  true,
		HideHelpCommand:           true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError: func(_ *cli.Context, err error, _ bool) error {
			// Go's flag package names all flags with one dash.
			return Usagef("%s", oneDash.ReplaceAllString(err.Error(), "${1}--$2"))
		},
		Action: func(ctx *cli.Context) error { return c.action(env, ctx) },
	}
	if c.Inputs {
		args = flagsFirst(app.Flags, args)
	}
	return app.Run(append([]string{c.Name}, args...))
}

var oneDash = regexp.MustCompile(`((?:defined|flag|argument): |for flag )-([^-:][^:]+)`)

func (c *Command) action(env *Env, ctx *cli.Context) error {
	if ctx.Bool("help") {
		return env.print(c.help())
	}
	if ctx.Bool("version") {
		return env.print(c.Name + " " + version() + "\n")
	}
	if ctx.Bool("man") {
		return env.print(c.man())
	}
	if shell := ctx.String("completion"); shell != "" {
		script, err := c.completion(shell)
		if err != nil {
			return err
		}
		return env.print(script)
	}
	if !c.Inputs && !c.Args && ctx.Args().Present() {
		return Usagef("unexpected argument %q", ctx.Args().First())
	}
	if err := env.setUp(ctx); err != nil {
		return err
	}
	env.unwatch = env.watchSignals()
	return c.Run(env)
}

// flagsFirst moves flags that stand behind files before them, as people type them. Go's
// flag package would take them for files.
func flagsFirst(table []cli.Flag, args []string) []string {
	takesValue := map[string]bool{}
	for _, f := range table {
		d, ok := f.(cli.DocGenerationFlag)
		for _, name := range f.Names() {
			takesValue[name] = ok && d.TakesValue()
		}
	}
	var flags, files []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			files = append(files, args[i+1:]...)
			break
		}
		if len(a) < 2 || a[0] != '-' {
			files = append(files, a)
			continue
		}
		flags = append(flags, a)
		if takesValue[strings.TrimLeft(a, "-")] && i+1 < len(args) { // "--x=1" is not in the table
			i++
			flags = append(flags, args[i])
		}
	}
	return slices.Concat(flags, []string{"--"}, files)
}

// allFlags returns the command's own flags and the common ones that make sense for it.
func (c *Command) allFlags() []cli.Flag {
	return slices.Concat(c.Flags, c.commonFlags())
}

func (c *Command) commonFlags() []cli.Flag {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE` instead of standard output"},
	}
	if len(c.Formats) > 0 {
		usage := "output `FORMAT`: " + strings.Join(c.Formats, ", ")
		if slices.Contains(c.Formats, "text") {
			usage += " (text on a terminal, else " + c.Formats[0] + ")"
		}
		flags = append(flags, ChoiceFlag("format", usage, "", c.Formats...))
	}
	if c.Records {
		flags = append(flags, &cli.StringFlag{Name: "drop", Usage: "leave out records of these `TYPES` (comma separated): dump, sample, ..."})
	}
	return append(
		flags,
		&cli.BoolFlag{Name: "zstd", Usage: "compress the output"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "errors only on standard error"},
		ChoiceFlag("progress", "show progress on standard error `WHEN`: auto, always, never", "auto", "auto", "always", "never"),
		&cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "show this help"},
		&cli.BoolFlag{Name: "version", Usage: "show the version"},
		&cli.BoolFlag{Name: "man", Usage: "print the man page (roff)"},
		ChoiceFlag("completion", "print completion for `SHELL`: bash, zsh, fish", "", "bash", "zsh", "fish"),
	)
}

// setUp fills env from the flags.
func (env *Env) setUp(ctx *cli.Context) error {
	env.Flags = ctx
	env.Context, env.cancel = context.WithCancel(context.Background())
	env.Quiet = ctx.Bool("quiet")
	toStdout := ctx.String("output") == "" || ctx.String("output") == "-"
	env.Terminal = toStdout && term.IsTerminal(int(env.stdout.Fd()))
	_, noColor := os.LookupEnv("NO_COLOR")
	env.Color = env.Terminal && !noColor && os.Getenv("TERM") != "dumb"
	env.Width = 100
	if w, _, err := term.GetSize(int(env.stdout.Fd())); env.Terminal && err == nil && w > 0 {
		env.Width = w
	}
	if formats := env.cmd.Formats; len(formats) > 0 {
		env.Format = ctx.String("format")
		if env.Format == "" {
			env.Format = formats[0]
			if env.Terminal && slices.Contains(formats, "text") {
				env.Format = "text"
			}
		}
	}
	if env.cmd.Records {
		types, err := dropped(ctx.String("drop"))
		if err != nil {
			return err
		}
		env.drop = types
	}
	return nil
}

func dropped(list string) ([]record.Type, error) {
	var types []record.Type
	for _, word := range List(list) {
		t := record.TypeOf(word)
		if t == record.Unknown {
			return nil, Usagef("--drop: there are no records of type %q", word)
		}
		types = append(types, t)
	}
	if err := record.NewWriter(io.Discard).Drop(types...); err != nil {
		return nil, Usagef("--drop: %v", err)
	}
	return types, nil
}

// print writes a finished text to standard output.
func (env *Env) print(text string) error {
	_, err := io.WriteString(env.stdout, text)
	if err != nil {
		return &outputError{err}
	}
	return nil
}

// status reports err and returns the exit status.
func (env *Env) status(err error) int {
	var exit exitStatus
	switch {
	case err == nil:
	case errors.As(err, &exit):
		return int(exit)
	case brokenPipe(err):
		return 0
	default:
		env.Fail(err)
	}
	return env.failed
}

// Say writes a message to stderr that --quiet does not hide, in one write, so that those of
// a pipeline's tools do not mix. See [Env.Warn] for what the parts are.
func (env *Env) Say(place, text, hint string) {
	env.progress.hide()
	var b strings.Builder
	b.WriteString(env.cmd.Name + ": ")
	if place != "" {
		b.WriteString(printable.Terminal(place) + ": ")
	}
	b.WriteString(printable.Terminal(text) + "\n")
	if hint != "" {
		for line := range strings.SplitSeq(hint, "\n") {
			fmt.Fprintf(&b, "hint: %s\n", printable.Terminal(line))
		}
	}
	io.WriteString(env.Stderr, b.String())
}
