// A bot on discord.js: what the fake says has to suit a client that its author has never seen.
// It is started with the address of the API and the token, and prints one line for each thing that it saw.
import { createRequire } from "node:module";

const { ActionRowBuilder, ButtonBuilder, ButtonStyle, Client, DiscordAPIError, Events, GatewayIntentBits, Partials, RateLimitError } =
  createRequire(process.env.NODE_MODULES + "/")("discord.js");
const [api, token] = process.argv.slice(2);
const client = new Client({
  intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.DirectMessages, GatewayIntentBits.MessageContent],
  partials: [Partials.Channel, Partials.Message],
  rest: { api, retries: 0, rejectOnRateLimit: () => true },
  enforceNonce: true,
});
const tell = (...words) => console.log(words.join(" "));
const guard = (f) => async (...args) => {
  try {
    await f(...args);
  } catch (e) {
    tell("failed", e);
    process.exit(1);
  }
};

client.once(Events.ClientReady, (c) => tell("up", c.user.username, c.user.bot));
client.on(Events.ShardResume, () => tell("resumed"));
client.on(Events.MessageUpdate, (_, m) => m.author?.id !== client.user.id && tell("edited", m.content));
client.on(Events.MessageCreate, guard(async (m) => {
  if (m.author.id === client.user.id) return tell("own", m.content);
  const channel = await m.channel.fetch(false);
  tell("message", channel.isThread() ? "thread" : channel.isDMBased() ? "direct" : "channel", m.author.username, m.mentions.has(client.user), m.content);
  if (m.content === "stop") {
    await client.destroy();
    tell("down");
    process.exit(0);
  }
  if (m.content === "forbidden") {
    for (const text of ["x".repeat(2001), "x"]) {
      try {
        await channel.send(text);
      } catch (e) {
        if (e instanceof DiscordAPIError) tell("refused", e.status, e.code);
        else if (e instanceof RateLimitError) tell("limited", Math.round(e.retryAfter / 1000));
        else throw e;
      }
    }
    return;
  }
  await channel.sendTyping();
  await m.reply({
    content: "you said " + m.content,
    components: [new ActionRowBuilder().addComponents(new ButtonBuilder().setCustomId("/again").setLabel("Again").setStyle(ButtonStyle.Secondary))],
  });
  const newest = await channel.messages.fetch({ limit: 1 });
  tell("newest", newest.first().content);
}));
client.on(Events.InteractionCreate, guard(async (i) => {
  tell("pressed", i.customId, i.user.username);
  await i.deferUpdate();
  await i.message.edit({ content: "once more", components: [] });
}));
client.on(Events.Error, (e) => tell("error", e.message));
await client.login(token);
