// A bot on grammY: what the fake says has to suit a client that its author has never seen.
// It is started with the address of the Bot API and a token, and prints one line for each thing that it saw.
import { createRequire } from "node:module";

const { Bot, GrammyError, InlineKeyboard } = createRequire(process.env.NODE_MODULES + "/")("grammy");
const [apiRoot, token] = process.argv.slice(2);
const bot = new Bot(token, { client: { apiRoot } });
const tell = (...words) => console.log(words.join(" "));

bot.command("stop", () => setImmediate(() => bot.stop()));
bot.command("forbidden", async (ctx) => {
  try {
    await ctx.reply("<b>never closed", { parse_mode: "HTML" });
  } catch (e) {
    if (!(e instanceof GrammyError)) throw e;
    tell("refused", e.error_code, e.parameters.retry_after ?? "", e.description.slice(0, 33));
  }
});
bot.on("message:text", async (ctx) => {
  tell("message", ctx.chat.type, ctx.from.first_name, ctx.message.message_thread_id ?? "", ctx.msg.text);
  await ctx.replyWithChatAction("typing");
  await ctx.reply("<b>you</b> said " + ctx.msg.text, {
    parse_mode: "HTML",
    reply_parameters: { message_id: ctx.msg.message_id, allow_sending_without_reply: true },
    reply_markup: new InlineKeyboard().text("Again", "/again"),
  });
});
bot.on("edited_message:text", (ctx) => tell("edited", ctx.editedMessage.text));
bot.on("callback_query:data", async (ctx) => {
  tell("pressed", ctx.callbackQuery.data, ctx.callbackQuery.message.text);
  await ctx.editMessageText("once more");
  await ctx.answerCallbackQuery();
});
bot.catch((e) => { tell("failed", e.error); process.exit(1); });
await bot.api.setMyCommands([{ command: "stop", description: "End" }]);
await bot.start({ onStart: (me) => tell("up", me.username, me.is_bot), allowed_updates: ["message", "edited_message", "callback_query"] });
tell("down");
