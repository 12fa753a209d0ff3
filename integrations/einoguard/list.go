package einoguard

import (
	"slices"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

type toolInfo = schema.ToolInfo

func nameOf(info *toolInfo) string {
	if info == nil {
		return ""
	}
	return info.Name
}

func byName(infos []*toolInfo) map[string]*toolInfo {
	m := make(map[string]*toolInfo, len(infos))
	for _, info := range infos {
		if info != nil {
			m[info.Name] = info
		}
	}
	return m
}

// request is what the options of one request to a model say of tools.
type request struct {
	*model.Options
	options []model.Option
}

// all are the tools that the model may find, those it has to search for among them.
func (r request) all() []*toolInfo { return slices.Concat(r.Tools, r.DeferredTools) }

func (r request) chooses(choice schema.ToolChoice) bool {
	return r.ToolChoice != nil && *r.ToolChoice == choice
}

// forced is the one tool that the request insists on, as is done for structured output;
// "" if there is none.
func (r request) forced() string {
	switch {
	case !r.chooses(schema.ToolChoiceForced):
		return ""
	case len(r.AllowedToolNames) == 1:
		return r.AllowedToolNames[0]
	case len(r.AllowedToolNames) == 0 && len(r.all()) == 1:
		return nameOf(r.all()[0])
	default:
		return ""
	}
}

// under returns the options for the request under a turn. They are the request's own
// where nothing changes, and never changed themselves.
func (r request) under(turn *toolguard.Turn, mode toolguard.Mode) []model.Option {
	hidden := hiddenIn(turn)
	if len(hidden) == 0 {
		return r.options
	}
	switch mode {
	case toolguard.Withhold:
		return r.withhold(turn, hidden)
	case toolguard.Mask:
		return r.mask(hidden)
	default:
		return r.options
	}
}

func hiddenIn(turn *toolguard.Turn) map[string]bool {
	var hidden map[string]bool
	for _, w := range turn.Withheld() {
		if w.Listed {
			continue
		}
		if hidden == nil {
			hidden = map[string]bool{}
		}
		hidden[w.Tool] = true
	}
	return hidden
}

// withhold leaves tools out of the lists. A request that insists on a tool keeps its
// lists if nothing would be left to choose: a provider would refuse it.
func (r request) withhold(turn *toolguard.Turn, hidden map[string]bool) []model.Option {
	tools := toolguard.Filter(turn, r.Tools, nameOf)
	deferred := toolguard.Filter(turn, r.DeferredTools, nameOf)
	if r.chooses(schema.ToolChoiceForced) && len(tools)+len(deferred) == 0 {
		return r.options
	}
	changed := slices.Clone(r.options)
	if len(tools) < len(r.Tools) {
		changed = append(changed, model.WithTools(tools))
	}
	if len(deferred) < len(r.DeferredTools) {
		changed = append(changed, model.WithDeferredTools(deferred))
	}
	if slices.ContainsFunc(r.AllowedToolNames, func(name string) bool { return hidden[name] }) {
		return r.choose(changed, r.AllowedToolNames, hidden)
	}
	return changed
}

// mask leaves the lists as they are, and says which of them the model may choose.
func (r request) mask(hidden map[string]bool) []model.Option {
	names := r.AllowedToolNames
	if len(names) == 0 {
		for _, info := range r.all() {
			names = append(names, nameOf(info))
		}
	}
	return r.choose(slices.Clone(r.options), names, hidden)
}

// choose restricts the model's choice to those of the names that are not hidden.
func (r request) choose(changed []model.Option, names []string, hidden map[string]bool) []model.Option {
	left := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return hidden[name] })
	choice := schema.ToolChoiceAllowed
	if r.ToolChoice != nil {
		choice = *r.ToolChoice
	}
	switch {
	case choice == schema.ToolChoiceForbidden:
		return changed
	case len(left) > 0:
		return append(changed, model.WithToolChoice(choice, left...))
	case choice == schema.ToolChoiceForced:
		return r.options
	default: // no name at all would mean any
		return append(changed, model.WithToolChoice(schema.ToolChoiceForbidden))
	}
}
