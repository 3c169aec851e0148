import { SubscriptionFormat as Format } from "@moorage/api/messages";

/** What of an event a message is made of. */
export interface Happened {
  /** Without the configured prefix. */
  type: string;
  /** The uid of what it is about. */
  subject: string;
  timeMs: number;
  /** JSON text: {subject, act}. */
  actor: string;
  /** JSON text. */
  body: string;
}

type Fact = readonly [name: string, value: string];

/** What happened, by how the type of the event begins: the first one that fits. */
const HEADLINES: readonly (readonly [type: string, words: string])[] = [
  ["events.test.", "A test of the webhook"],
  ["registry.push.", "An image was pushed"],
  ["registry.pull.", "An image was pulled"],
  ["registry.gate.rejected.", "A pull was blocked by a vulnerability gate"],
  ["registry.mirror.", "A mirror failed or recovered"],
  ["vulnerabilities.finding.opened.", "Vulnerabilities were found in an image"],
  ["vulnerabilities.finding.closed.", "Findings of an image were closed"],
  ["advisory.", "An advisory changed"],
  ["libraries.version.published.", "A version of a package was published"],
  ["libraries.version.blocked.", "A version of a package was blocked"],
  ["api.platform.registry.tag.created.", "A tag was created"],
  ["api.platform.registry.tag.updated.", "A tag moved"],
  ["api.platform.registry.tag.deleted.", "A tag was deleted"],
  ["api.platform.registry.repo.created.", "An image was created"],
  ["api.platform.registry.repo.deleted.", "An image was deleted"],
  ["api.iam.rolebindings.created.", "Somebody was given a role"],
  ["api.iam.rolebindings.updated.", "The role of somebody changed"],
  ["api.iam.rolebindings.deleted.", "A role was taken from somebody"],
  ["api.auth.signed_in.", "Somebody signed in"],
];
/** Shown first, where a body has them. */
const FIRST = ["repository", "image", "name", "tag", "version", "digest", "vulnerability", "severity", "message"];
const MAX_FACTS = 10;
const MAX_CHARS = 200;
// Controls, and what changes the direction of a text or is not seen.
const UNSEEN = /[\p{Cc}\p{Cf}]/gu;

/** Whether what is sent in the format is a message for people. */
export function isChat(format: number): boolean {
  return format === Format.SLACK || format === Format.TEAMS;
}

/** The body of the request that sends the event in the format, as JSON text. `prefix`: of types, as configured. */
export function bodyIn(format: number, event: Happened, prefix: string): string {
  if (format === Format.SLACK) return JSON.stringify(slackMessage(event, prefix));
  if (format === Format.TEAMS) return JSON.stringify(teamsMessage(event, prefix));
  return `{"actor":${event.actor},"body":${event.body}}`;
}

/**
 * A message for Slack. All texts are plain: what others wrote cannot format, link or mention. Source: Slack, "Sending
 * messages using incoming webhooks", "Block Kit" and "Escaping text".
 */
function slackMessage(event: Happened, prefix: string): object {
  const plain = (text: string): object => ({ type: "plain_text", text: escaped(text), emoji: false });
  const headline = headlineOf(event);
  const facts = factsOf(event);
  return {
    text: escaped(headline),
    mrkdwn: false,
    blocks: [
      { type: "section", text: plain(headline) },
      ...(facts.length === 0
        ? []
        : [{ type: "section", fields: facts.map(([name, value]) => plain(`${name}: ${value}`)) }]),
      { type: "context", elements: [plain(originOf(event, prefix))] },
    ],
  };
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

const escaped = (text: string): string => text.replace(/[&<>]/g, (sign) => ENTITIES[sign] ?? sign);

/**
 * A message for Microsoft Teams. All texts are runs, in which, other than in text blocks and facts, nothing is
 * Markdown. Source: Microsoft Teams, "Create incoming webhooks"; Adaptive Cards 1.4, "RichTextBlock" and "TextRun".
 */
function teamsMessage(event: Happened, prefix: string): object {
  const run = (text: string, look: object = {}): object => ({ type: "TextRun", text, ...look });
  const line = (...inlines: object[]): object => ({ type: "RichTextBlock", inlines });
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          body: [
            line(run(headlineOf(event), { weight: "bolder", size: "medium" })),
            ...factsOf(event).map(([name, value]) => line(run(`${name}: `, { isSubtle: true }), run(value))),
            line(run(originOf(event, prefix), { isSubtle: true, size: "small" })),
          ],
        },
      },
    ],
  };
}

function headlineOf({ type, body }: Happened): string {
  const words = HEADLINES.find(([start]) => type.startsWith(start))?.[1] ?? shown(type);
  const { repository, tag, name } = objectOf(body);
  const about = [textOf(repository), textOf(tag)].filter(Boolean).join(":") || textOf(name);
  return about === "" ? words : `${words}: ${about}`;
}

/** The texts and numbers of the body, those first that people look for. */
function factsOf({ body, actor }: Happened): Fact[] {
  const all = Object.entries(objectOf(body)).flatMap(([name, value]): Fact[] => {
    const text = textOf(value);
    return text === "" || name === "uid" ? [] : [[shown(name), text]];
  });
  const rank = ([name]: Fact): number => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  const by = textOf(objectOf(actor)["subject"]);
  const facts = all.toSorted((one, other) => rank(one) - rank(other)).slice(0, by === "" ? MAX_FACTS : MAX_FACTS - 1);
  return by === "" ? facts : [...facts, ["by", by]];
}

const originOf = ({ type, timeMs }: Happened, prefix: string): string =>
  `${prefix}.${shown(type)}, ${new Date(timeMs).toISOString()}`;

function objectOf(json: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(json);
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? shown(String(value))
    : "";
}

/** The beginning of a text, in one line, without what is not seen. */
function shown(text: string): string {
  const line = text
    .slice(0, 2 * MAX_CHARS)
    .toWellFormed()
    .replace(UNSEEN, " ")
    .trim();
  return line.length <= MAX_CHARS && text.length <= 2 * MAX_CHARS
    ? line
    : `${line.slice(0, MAX_CHARS)}…`.toWellFormed();
}
