package telegram

import (
	"context"
	"fmt"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

// Send makes one sendMessage call.
func (a *Adapter) Send(ctx context.Context, out chat.Outbound) (chat.Receipt, error) {
	to, thread, err := place(out.To)
	if err != nil {
		return chat.Receipt{}, err
	}
	p := &bot.SendMessageParams{
		ChatID: to, MessageThreadID: thread, Text: out.Text, DisableNotification: out.Silent,
		LinkPreviewOptions: noPreview(), ReplyMarkup: keyboard(out.Buttons), ParseMode: mode(out),
	}
	if n, ok := number(out.ReplyTo); ok {
		p.ReplyParameters = &models.ReplyParameters{MessageID: int(n), AllowSendingWithoutReply: true}
	}
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	m, err := a.bot.SendMessage(ctx, p)
	if err != nil {
		return chat.Receipt{}, sendFault(err)
	}
	return chat.Receipt{MessageID: formatID(int64(m.ID))}, nil
}

func noPreview() *models.LinkPreviewOptions { return &models.LinkPreviewOptions{IsDisabled: new(true)} }

func mode(out chat.Outbound) models.ParseMode {
	if out.Plain {
		return ""
	}
	return models.ParseModeHTML
}

// keyboard puts each button into a row of its own, where its label has room. Without buttons it is nil and no keyboard.
func keyboard(buttons []chat.Button) models.ReplyMarkup {
	if len(buttons) == 0 {
		return nil
	}
	k := &models.InlineKeyboardMarkup{}
	for _, b := range buttons {
		k.InlineKeyboard = append(k.InlineKeyboard, []models.InlineKeyboardButton{{Text: b.Label, CallbackData: b.Command}})
	}
	return k
}

// Typing shows that we are writing.
func (a *Adapter) Typing(ctx context.Context, to chat.Address) error {
	id, thread, err := place(to)
	if err != nil {
		return err
	}
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	if _, err := a.bot.SendChatAction(ctx, &bot.SendChatActionParams{ChatID: id, MessageThreadID: thread, Action: models.ChatActionTyping}); err != nil {
		return sendFault(err)
	}
	return nil
}

// TypingLasts is after how long the sign ends by itself.
func (a *Adapter) TypingLasts() time.Duration { return 5 * time.Second }

// maxDescription is the longest description of a command, in characters.
const maxDescription = 256

// SetMenu replaces the command menu.
func (a *Adapter) SetMenu(ctx context.Context, commands []chat.MenuEntry) error {
	p := &bot.SetMyCommandsParams{Commands: []models.BotCommand{}}
	for _, c := range commands {
		d := []rune(c.Description)
		p.Commands = append(p.Commands, models.BotCommand{Command: c.Name, Description: string(d[:min(len(d), maxDescription)])})
	}
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	if _, err := a.bot.SetMyCommands(ctx, p); err != nil {
		return sendFault(err)
	}
	return nil
}

// Webhook asks where Telegram sends the bot's updates: "" means that they wait for us. For a check on request; a Run finds
// out by itself.
func (a *Adapter) Webhook(ctx context.Context) (string, error) {
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	info, err := a.bot.GetWebhookInfo(ctx)
	if err != nil {
		return "", runFault(err)
	}
	return info.URL, nil
}

// place gives the numbers of a chat and a topic.
func place(to chat.Address) (id int64, thread int, err error) {
	id, ok := number(to.Chat)
	if !ok {
		return 0, 0, &chat.SendError{Fault: chat.Refused, Class: chat.ClassChatGone, Err: fmt.Errorf("%q is no chat of Telegram: want a number", to.Chat)}
	}
	if to.Thread == "" {
		return id, 0, nil
	}
	t, ok := number(to.Thread)
	if !ok || t < 1 || t > 1<<31-1 {
		return 0, 0, &chat.SendError{Fault: chat.Refused, Class: chat.ClassThreadGone, Err: fmt.Errorf("%q is no topic of Telegram: want a number", to.Thread)}
	}
	if t == 1 && id < 0 { // the general topic of a forum has this number, but is addressed without one
		t = 0
	}
	return id, int(t), nil
}
