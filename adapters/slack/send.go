package slack

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

// keyed is the type of the metadata that hold a message's key. Only who reads a channel by the API sees them.
const keyed = "homing_message"

// Send makes one call of chat.postMessage. ReplyTo is not used: in Slack an answer to a message is a thread under it, which
// is a place of its own.
func (a *Adapter) Send(ctx context.Context, out chat.Outbound) (chat.Receipt, error) {
	options := append(content(out, out.Plain && len(out.Buttons) == 0),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl())
	if out.To.Thread != "" {
		options = append(options, slack.MsgOptionTS(out.To.Thread))
	}
	if out.Key != "" {
		options = append(options, slack.MsgOptionMetadata(slack.SlackMetadata{EventType: keyed, EventPayload: map[string]any{"key": out.Key}}))
	}
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	_, ts, _, err := a.api.SendMessageContext(ctx, out.To.Chat, options...)
	switch {
	case err != nil:
		return chat.Receipt{}, sendFault(err)
	case ts == "":
		return chat.Receipt{}, &chat.SendError{Fault: chat.Unknown, Err: errors.New("chat.postMessage: an answer without a time stamp")}
	}
	return chat.Receipt{MessageID: ts}, nil
}

// content is what a message shows. Plain text is escaped here and shown as it is: by switching markup off where the call can
// do that, else in blocks of plain text. Buttons need blocks, too.
func content(out chat.Outbound, switchedOff bool) []slack.MsgOption {
	text := out.Text
	if out.Plain {
		text = escape(text)
	}
	options := []slack.MsgOption{slack.MsgOptionText(text, false)}
	switch {
	case switchedOff:
		return append(options, slack.MsgOptionDisableMarkdown())
	case !out.Plain && len(out.Buttons) == 0:
		return options
	}
	kind := slack.MarkdownType
	if out.Plain {
		kind = slack.PlainTextType
	}
	var blocks []slack.Block
	for _, piece := range sections(text, out.Plain) {
		blocks = append(blocks, slack.NewSectionBlock(slack.NewTextBlockObject(kind, piece, false, false), nil, nil))
	}
	if len(out.Buttons) > 0 {
		var row []slack.BlockElement
		for i, b := range out.Buttons {
			label := []rune(b.Label)
			row = append(row, slack.NewButtonBlockElement(fmt.Sprintf("homing_%d", i), b.Command,
				slack.NewTextBlockObject(slack.PlainTextType, escape(string(label[:min(len(label), maxLabel)])), false, false)))
		}
		blocks = append(blocks, slack.NewActionBlock("", row...))
	}
	return append(options, slack.MsgOptionBlocks(blocks...))
}

// maxLabel is what a button shows, in characters; Slack refuses more than 75.
const maxLabel = 60

// Edit gives a message another text by chat.update, which cannot switch markup off. Blocks that it is not given it keeps, and
// shows them instead of the text; and unlike chat.postMessage it looks for names in the text unless it is told not to.
func (a *Adapter) Edit(ctx context.Context, messageID string, out chat.Outbound) error {
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	options := append([]slack.MsgOption{slack.MsgOptionUpdate(messageID), slack.MsgOptionParse(false), slack.MsgOptionBlocks()}, content(out, false)...)
	_, _, _, err := a.api.SendMessageContext(ctx, out.To.Chat, options...)
	if err != nil {
		return sendFault(err)
	}
	return nil
}

// Remove takes a message of ours back by chat.delete.
func (a *Adapter) Remove(ctx context.Context, to chat.Address, messageID string) error {
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	_, _, err := a.api.DeleteMessageContext(ctx, to.Chat, messageID)
	if e, ok := errors.AsType[*apiError](err); ok && e.code == "message_not_found" {
		return nil
	}
	if err != nil {
		return sendFault(err)
	}
	return nil
}

// conversation gives the id of the channel of an address: a person's id stands for the direct chat with them when something
// is posted, but not when something is read.
func (a *Adapter) conversation(ctx context.Context, to chat.Address) (string, error) {
	if !strings.HasPrefix(to.Chat, "U") && !strings.HasPrefix(to.Chat, "W") {
		return to.Chat, nil
	}
	c, _, _, err := a.api.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{to.Chat}})
	if err != nil {
		return "", err
	}
	return c.ID, nil
}
