package command

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// flagSet holds the common options and those of one command.
type flagSet struct {
	*flag.FlagSet

	format *string
	mount  *string
}

func newFlags() flagSet {
	flags := flag.NewFlagSet("bao", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flagSet{flags, flags.String("format", "", ""), flags.String("mount", "", "")}
}

func (f flagSet) json() bool { return *f.format == "json" }

// parse parses options and returns the one argument after them.
func parse(flags flagSet, args []string) (string, error) {
	first, rest, err := parseMore(flags, args)
	if err == nil && len(rest) > 0 {
		err = errUsage
	}
	return first, err
}

// parseMore returns the first argument after the options, and the rest.
func parseMore(flags flagSet, args []string) (first string, rest []string, err error) {
	if err := flags.Parse(args); err != nil {
		return "", nil, fmt.Errorf("%w\n\n%s", err, Usage)
	}
	if flags.NArg() == 0 {
		return "", nil, errUsage
	}
	return strings.Trim(flags.Arg(0), "/"), flags.Args()[1:], nil
}
