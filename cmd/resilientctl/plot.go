package main

import (
	"encoding/json"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed42274fcc/stoic/policies"
)

func (a *app) plot() *cobra.Command {
	var from source
	var file string
	var width int
	cmd := &cobra.Command{
		Use:   "plot SERVICE",
		Short: "Draw when the attempts of a call are made",
		Long: `Draws when the attempts of a call are made that may be repeated: from when to
when each may begin, and when it ends at the latest.
` + sourceHelp,
		Args: orUsage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.registry(&from)
			if err != nil {
				return err
			}
			for _, f := range r.Findings() {
				say(a.err, "%s\n", f)
			}
			e := r.Explain(args[0])
			switch {
			case file == "-":
				_, err = a.out.Write(drawSVG(e))
			case file != "":
				err = os.WriteFile(file, drawSVG(e), 0o644)
			case a.json:
				err = a.writeSchedule(e)
			default:
				_, err = a.out.Write(drawText(e, width))
			}
			return err
		},
		ValidArgsFunction: a.completeServices(&from),
	}
	from.flags(cmd)
	cmd.Flags().StringVar(&file, "svg", "", "write SVG to a file, or for - to the standard output")
	cmd.Flags().IntVar(&width, "width", 80, "how many columns wide: 40 or more")
	return cmd
}

// writeSchedule writes the part of the explanation that is drawn.
func (a *app) writeSchedule(e policies.Explanation) error {
	whole, err := json.Marshal(e)
	if err != nil {
		return err
	}
	var part struct {
		Service  json.RawMessage `json:"service"`
		Schedule json.RawMessage `json:"schedule"`
	}
	if err := json.Unmarshal(whole, &part); err != nil {
		return err
	}
	return a.write(part)
}
