package gateway

import (
	"encoding/json"
	"errors"
	"path/filepath"

	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/media"
	"github.com/homing-gateway/homing/internal/tool"
	"github.com/homing-gateway/homing/internal/workspace"
)

// fileTool carries out a call on files of the workspace. Each of them may be carried out twice and comes to the same: a
// crash in between needs no guess.
func (g *Gateway) fileTool(e machine.RunTool) machine.ToolDone {
	done := machine.ToolDone{Action: e.Action.ID}
	folder, err := workspace.Open(g.folderFor(e.Action))
	if err != nil {
		done.Result, done.Failed = tool.Error(tool.KindFailed, err.Error()), true
		return done
	}
	defer func() { _ = folder.Close() }()
	v, err := onFiles(folder, e)
	switch bad, isArgument := errors.AsType[*tool.ArgumentError](err); {
	case err == nil:
		done.Result = tool.JSON(v)
	case isArgument:
		done.Result, done.Failed = tool.Error(tool.KindArguments, bad.Text), true
	case errors.Is(err, workspace.ErrNotFound):
		done.Result, done.Failed = tool.Error(tool.KindNotFound, err.Error()), true
	default:
		done.Result, done.Failed = tool.Error(tool.KindFailed, err.Error()), true
	}
	return done
}

// folderFor is the folder that a call on files is about: the workspace, or, where it only reads, what people sent. There a
// file has to be named: nobody can look around among the files of others.
func (g *Gateway) folderFor(a machine.Action) string {
	in := filepath.Join(g.o.Media.Dir(), media.In)
	var named struct {
		Path string `json:"path"`
	}
	name := a.Call.Name
	if (name == tool.ReadFile || name == tool.SearchFiles) && json.Unmarshal([]byte(a.Call.Arguments), &named) == nil {
		if rel, err := filepath.Rel(in, filepath.Clean(named.Path)); err == nil && filepath.IsLocal(rel) && rel != "." {
			return in
		}
	}
	return g.profile(a.Profile).Workspace
}

// written is the result of a call that changed a file.
type written struct {
	Path     string `json:"path"`
	Bytes    int    `json:"bytes,omitempty"`
	Replaced int    `json:"replaced,omitempty"`
	Note     string `json:"note,omitempty"`
}

func onFiles(f *workspace.Folder, e machine.RunTool) (any, error) {
	name, arguments := e.Action.Call.Name, e.Action.Call.Arguments
	switch name {
	case tool.ReadFile:
		var a tool.ReadArgs
		if err := parsePath(name, arguments, &a, &a.Path); err != nil {
			return nil, err
		}
		return f.Read(a.Path, a.Offset, a.Limit)
	case tool.WriteFile:
		var a tool.WriteArgs
		if err := parsePath(name, arguments, &a, &a.Path); err != nil {
			return nil, err
		}
		if a.Content == nil {
			return nil, &tool.ArgumentError{Text: "content is missing: give the whole text of the file"}
		}
		return written{Path: a.Path, Bytes: len(*a.Content)}, f.Write(a.Path, *a.Content)
	case tool.EditFile:
		var a tool.EditArgs
		if err := parsePath(name, arguments, &a, &a.Path); err != nil {
			return nil, err
		}
		n, err := f.Edit(a.Path, a.Old, a.New, a.All, e.Again)
		w := written{Path: a.Path, Replaced: n}
		if err == nil && n == 0 {
			w.Note = "the file has the new text already"
		}
		return w, err
	}
	var a tool.SearchArgs
	if err := tool.Parse(name, arguments, &a); err != nil {
		return nil, err
	}
	if a.Pattern == "" {
		return nil, &tool.ArgumentError{Text: "pattern is missing: give a regular expression"}
	}
	found, more, err := f.Search(a.Pattern, a.Path, a.Glob)
	if found == nil {
		found = []workspace.Match{}
	}
	return struct {
		Matches []workspace.Match `json:"matches"`
		More    bool              `json:"more"`
	}{found, more}, err
}

// parsePath decodes the arguments of a call that names one file.
func parsePath(name, arguments string, v any, path *string) error {
	if err := tool.Parse(name, arguments, v); err != nil {
		return err
	}
	if *path == "" {
		return &tool.ArgumentError{Text: "path is missing: name a file of the workspace"}
	}
	return nil
}
