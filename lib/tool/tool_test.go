package tool

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/urfave/cli/v2"

	"vperf/lib/record"
)

// count is a filter like the real ones: it passes records on and adds how many there were.
var count = &Command{
	Name:     "vp-count",
	Summary:  "count the records of a stream",
	Synopsis: "[flags] [FILE...]",
	Long:     "Passes every record on and adds their number.",
	Examples: []Example{{Text: "count a file", Command: "vp-count run.ndjson"}},
	Flags: []cli.Flag{
		&cli.StringFlag{Name: "event", Usage: "count only records of `NAME`"},
		&cli.IntFlag{Name: "most", Aliases: []string{"m"}, Value: 10, Usage: "stop after `N` records"},
		&cli.BoolFlag{Name: "strict", Usage: "fail on bad lines"},
	},
	Inputs: true, Records: true,
	Formats: []string{"ndjson", "text"},
	Run: func(env *Env) error {
		if dir, err := env.TempDir(); err != nil {
			return err
		} else if env.Flags.Bool("strict") {
			os.WriteFile(dir+"/file", nil, 0o600)
			env.Warn("", "event is "+env.Flags.String("event"), "")
		}
		w, err := env.Records()
		if err != nil {
			return err
		}
		n := 0
		err = env.EachInput(func(in *Input) error {
			r := env.Reader(in)
			for r.Next() && n < env.Flags.Int("most") {
				if env.Format == "ndjson" {
					w.Raw(r.Line())
				}
				n++
			}
			return r.Err()
		})
		if err != nil {
			return err
		}
		if n == 0 {
			return &Error{Text: "no records", Hint: "pipe a stream in", Cause: record.CauseBadInput}
		}
		w.Begin(record.Stream{By: "vp-count"})
		for _, notice := range env.Problems() {
			w.Write(&notice)
		}
		w.Write(&record.Metric{Name: "records", Scope: "all", Value: record.Float(float64(n)), Unit: env.Format})
		return w.End("")
	},
}

// with runs a command line and passes on its status.
var with = &Command{
	Name: "vp-with", Summary: "run a command", Synopsis: "[flags] -- CMD", Args: true,
	Flags: []cli.Flag{&cli.BoolFlag{Name: "loud", Usage: "say what is run"}},
	Run: func(env *Env) error {
		args := env.Flags.Args().Slice()
		if env.Flags.Bool("loud") {
			env.Warn("", strings.Join(args, "|"), "")
		}
		cmd := exec.CommandContext(env.Context, args[0], args[1:]...)
		cmd.Stdout, cmd.Stderr = env.Stderr, env.Stderr
		cmd.Run()
		return Exit(cmd.ProcessState.ExitCode())
	},
}

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"vp-count": func() { os.Exit(Main(count)) },
		"vp-with":  func() { os.Exit(Main(with)) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}

func TestFlagsFirst(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "--",
		"a b":                     "-- a b",
		"a --strict b":            "--strict -- a b",
		"a --event x b":           "--event x -- a b",
		"a -m 3 --event=x -":      "-m 3 --event=x -- a -",
		"a -- --strict":           "-- a --strict",
		"--event -- x":            "--event -- -- x",
		"a --unknown b --event":   "--unknown --event -- a b",
		"--event --strict -- -m":  "--event --strict -- -m",
		"--strict=false a -- b c": "--strict=false -- a b c",
	} {
		if got := strings.Join(flagsFirst(count.allFlags(), strings.Fields(in)), " "); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		err  Error
		want string
	}{
		{Error{Place: "a:1", Err: os.ErrNotExist, Cause: record.CauseBadInput}, "a:1: file does not exist (bad_input)"},
		{Error{Text: "cannot be read", Err: os.ErrNotExist}, "cannot be read: file does not exist"},
		{Error{Text: "cannot be read: file does not exist", Err: os.ErrNotExist}, "cannot be read: file does not exist"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
