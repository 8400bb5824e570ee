package telegram

import (
	"context"
	"fmt"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

var (
	_ chat.Editor  = (*Adapter)(nil)
	_ chat.Remover = (*Adapter)(nil)
	_ chat.Reactor = (*Adapter)(nil)
)

// Edit makes one editMessageText call.
func (a *Adapter) Edit(ctx context.Context, messageID string, out chat.Outbound) error {
	to, message, err := post(out.To, messageID)
	if err != nil {
		return err
	}
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	_, err = a.bot.EditMessageText(ctx, &bot.EditMessageTextParams{
		ChatID: to, MessageID: message, Text: out.Text,
		LinkPreviewOptions: noPreview(), ReplyMarkup: keyboard(out.Buttons), ParseMode: mode(out),
	})
	if err != nil && !already(err, "message is not modified") {
		return sendFault(err)
	}
	return nil
}

// Remove deletes a message, for everybody.
func (a *Adapter) Remove(ctx context.Context, to chat.Address, messageID string) error {
	id, message, err := post(to, messageID)
	if err != nil {
		return err
	}
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	_, err = a.bot.DeleteMessage(ctx, &bot.DeleteMessageParams{ChatID: id, MessageID: message})
	if err != nil && !already(err, "message to delete not found") {
		return sendFault(err)
	}
	return nil
}

// React puts a pair of eyes under a person's message.
func (a *Adapter) React(ctx context.Context, to chat.Address, messageID string) error {
	id, message, err := post(to, messageID)
	if err != nil {
		return err
	}
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	_, err = a.bot.SetMessageReaction(ctx, &bot.SetMessageReactionParams{ChatID: id, MessageID: message, Reaction: []models.ReactionType{
		{Type: models.ReactionTypeTypeEmoji, ReactionTypeEmoji: &models.ReactionTypeEmoji{Emoji: "👀"}},
	}})
	if err != nil {
		return sendFault(err)
	}
	return nil
}

// post gives the numbers of a chat and a message.
func post(to chat.Address, messageID string) (id int64, message int, err error) {
	id, _, err = place(chat.Address{Chat: to.Chat})
	if err != nil {
		return 0, 0, err
	}
	m, ok := number(messageID)
	if !ok || m < 1 || m > 1<<31-1 {
		return 0, 0, &chat.SendError{Fault: chat.Refused, Class: chat.ClassOther, Err: fmt.Errorf("%q is no message of Telegram: want a number", messageID)}
	}
	return id, int(m), nil
}
