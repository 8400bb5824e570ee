package gateway

import (
	"io"
	"net/http"
	"slices"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
)

// The limits of images in a request. An image is sent anew with every step, so that only what is talked about now is shown;
// of an earlier one the model has the line that says where it is.
const (
	imageTurns    = 3 // the latest turns in which people wrote
	maxImages     = 8
	maxImageBytes = 5 << 20
	maxAllImages  = 16 << 20
	imageTokens   = 1000 // that an image takes, roughly
)

// images are the pictures that a conversation shows the model, by the entries that they came with: the latest first, as
// many as there is room for.
func (g *Gateway) images(force []machine.Entry) map[uint64][]agent.Image {
	shown := map[uint64][]agent.Image{}
	var turns []id.Turn
	n, room := 0, int64(maxAllImages)
	for _, e := range slices.Backward(force) {
		if e.Kind != machine.EntryUser {
			continue
		}
		if !slices.Contains(turns, e.Turn) {
			if turns = append(turns, e.Turn); len(turns) > imageTurns {
				break
			}
		}
		for _, f := range e.Files {
			if n == maxImages || f.State != machine.FileHere || f.Size > min(maxImageBytes, room) {
				continue
			}
			if image, ok := g.image(f); ok {
				shown[e.Seq] = append(shown[e.Seq], image)
				n++
				room -= int64(len(image.Data))
			}
		}
	}
	return shown
}

// image reads a file that a model can look at. What it is its bytes say, not its sender.
func (g *Gateway) image(f machine.File) (agent.Image, bool) {
	file, err := g.o.Media.Open(f.Path)
	if err != nil {
		return agent.Image{}, false
	}
	defer func() { _ = file.Close() }()
	head := make([]byte, 512)
	n, _ := io.ReadFull(file, head)
	kind := http.DetectContentType(head[:n])
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind) {
		return agent.Image{}, false
	}
	rest, err := io.ReadAll(io.LimitReader(file, maxImageBytes))
	return agent.Image{MIME: kind, Data: append(head[:n], rest...)}, err == nil
}
