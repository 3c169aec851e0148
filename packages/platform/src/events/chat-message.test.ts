import assert from "node:assert/strict";
import { test } from "node:test";
import { SubscriptionFormat as Format } from "@moorage/api/messages";
import { bodyIn, isChat } from "./chat-message.ts";

const push = {
  type: "registry.push.v1",
  subject: "0123",
  timeMs: Date.parse("2026-11-01T08:00:00Z"),
  actor: JSON.stringify({ subject: "somebody", act: { email: "a@example.com" } }),
  body: JSON.stringify({ digest: "sha256:1", repository: "acme/web", tag: "1.0", size: 3, nested: { a: 1 }, none: "" }),
};
const bodyOf = (format: number, change: object = {}): string => bodyIn(format, { ...push, ...change }, "dev.moorage");

test("an event without a chat is the CloudEvent that it always was", () => {
  for (const format of [Format.UNSPECIFIED, Format.CLOUDEVENTS, 99]) {
    assert.equal(bodyOf(format), `{"actor":${push.actor},"body":${push.body}}`);
    assert.equal(isChat(format), false);
  }
});

test("a message for Slack says what happened to what, and by whom", () => {
  const { text, mrkdwn, blocks } = JSON.parse(bodyOf(Format.SLACK)) as {
    text: string;
    mrkdwn: boolean;
    blocks: { type: string; fields?: { text: string; type: string; emoji: boolean }[] }[];
  };
  assert.deepEqual([text, mrkdwn], ["An image was pushed: acme/web:1.0", false]);
  assert.deepEqual(
    blocks.map(({ type }) => type),
    ["section", "section", "context"],
  );
  assert.deepEqual(
    blocks[1]?.fields?.map((each) => [each.type, each.text, each.emoji]),
    [
      ["plain_text", "repository: acme/web", false],
      ["plain_text", "tag: 1.0", false],
      ["plain_text", "digest: sha256:1", false],
      ["plain_text", "size: 3", false],
      ["plain_text", "by: somebody", false],
    ],
  );
});

test("a message for Teams is an adaptive card of runs, in which nothing is Markdown", () => {
  const { type, attachments } = JSON.parse(bodyOf(Format.TEAMS)) as {
    type: string;
    attachments: { contentType: string; content: { version: string; body: { type: string; inlines: object[] }[] } }[];
  };
  assert.equal(type, "message");
  assert.equal(attachments[0]?.contentType, "application/vnd.microsoft.card.adaptive");
  const { version, body } = attachments[0].content;
  assert.equal(version, "1.4");
  assert.ok(body.every((each) => each.type === "RichTextBlock"));
  assert.match(JSON.stringify(body[0]), /An image was pushed: acme\/web:1\.0/);
});

test("what others wrote cannot mention, link, format or hide, and is cut", () => {
  const name = "<!channel> & <http://evil.example|click> *bold* [a](http://evil.example)\u202Egnp.\r\n\u0007";
  const change = { body: JSON.stringify({ name, message: "x".repeat(60_000) }) };
  const slack = bodyOf(Format.SLACK, change);
  assert.ok(!/[<>\u202E]/u.test(slack));
  assert.ok(slack.includes("&lt;!channel&gt; &amp; &lt;http://evil.example|click&gt;"));
  assert.ok(!slack.includes('"type":"mrkdwn"'));
  const teams = bodyOf(Format.TEAMS, change);
  assert.ok(!teams.includes("TextBlock") || !/"type":"TextBlock"/.test(teams));
  assert.ok(!teams.includes("\u202E"));
  for (const text of [slack, teams]) assert.ok(text.length < 5_000, String(text.length));
  const many = JSON.stringify(Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`k${at}`.repeat(90), "v"])));
  for (const format of [Format.SLACK, Format.TEAMS]) assert.ok(bodyOf(format, { body: many }).length < 9_000);
});

test("an event of a type without words is named by its type, and a body that is no object has no facts", () => {
  const { text } = JSON.parse(bodyOf(Format.SLACK, { type: "registry.new.v1", body: "7" })) as { text: string };
  assert.equal(text, "registry.new.v1");
});
