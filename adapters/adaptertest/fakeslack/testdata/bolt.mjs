// A bot on Bolt in Socket Mode: what the fake says has to suit a client that its author has never seen.
// It is started with the address of the Web API and the two tokens, and prints one line for each thing that it saw.
import { createRequire } from "node:module";

const { App, LogLevel } = createRequire(process.env.NODE_MODULES + "/")("@slack/bolt");
const [slackApiUrl, token, appToken] = process.argv.slice(2);
const app = new App({
  token, appToken, socketMode: true, logLevel: LogLevel.ERROR, tokenVerificationEnabled: false,
  clientOptions: { slackApiUrl, rejectRateLimitedCalls: true, retryConfig: { retries: 0 } },
});
const tell = (...words) => console.log(words.join(" "));

app.message(async ({ message, say, client, context }) => {
  if (message.subtype) return tell(message.subtype, message.message?.text);
  tell("message", message.channel_type, message.user, message.thread_ts ? "thread" : "", message.text);
  if (message.text === "stop") { await app.stop(); tell("down"); process.exit(0); }
  if (message.text === "forbidden") {
    for (const channel of ["C0NOWHERE", message.channel]) {
      try {
        await client.chat.postMessage({ channel, text: "x" });
      } catch (e) {
        tell("refused", e.data?.error ?? e.code, e.retryAfter ?? "");
      }
    }
    return;
  }
  const { ts } = await say({
    text: "you said " + message.text, thread_ts: message.thread_ts,
    blocks: [
      { type: "section", text: { type: "mrkdwn", text: "*you* said " + message.text } },
      { type: "actions", elements: [{ type: "button", action_id: "again", value: "/again", text: { type: "plain_text", text: "Again" } }] },
    ],
  });
  const { messages } = await client.conversations.history({ channel: message.channel, limit: 1 });
  tell("newest", messages[0].ts === ts || message.thread_ts !== undefined, context.botUserId);
});
app.event("app_mention", ({ event }) => tell("mention", event.user, event.text));
app.action("again", async ({ ack, action, body, client }) => {
  await ack();
  tell("pressed", action.value, body.user.id);
  await client.chat.update({ channel: body.channel.id, ts: body.message.ts, text: "once more", blocks: [] });
});
app.error((e) => { tell("failed", e); process.exit(1); });
await app.start();
tell("up");
