// The types of events out of the descriptors: the reference page, and the list of them for the command.
import type { DescService } from "@bufbuild/protobuf";
import * as api from "@moorage/api";
import { COMMENTS } from "@moorage/api/gen/moorage/comments";
import { SETTINGS } from "../packages/kernel/src/config/index.ts";
import { bodyOf } from "../packages/platform/src/events/body.ts";
import { type EventType, eventTypes } from "../packages/platform/src/events/types.ts";
import { exampleActor, exampleBody } from "./event-example.ts";

const HEAD = `# Types of events

<!-- Made by scripts/gen/main.ts out of proto/: change it there. -->

Every type of event, with the body it carries and an example. How events are sent, verified and read: docs/events.md.
`;
const prefix = SETTINGS.find(({ name }) => name === "MOORAGE_EVENTS_PREFIX")?.fallback ?? "";

/** The reference page, as Markdown. Throws an Error for a type whose method or message has no comment. */
export function eventsPage(): string {
  return `${HEAD}\n${allTypes().map(section).join("\n")}`;
}

/** The module with the list for the command. */
export function eventTypesModule(): string {
  const listed = allTypes().map((event) => ({ type: event.type, help: sentenceOf(meaningOf(event)) }));
  return `// Made by scripts/gen/main.ts out of proto/: change it there.

/** Every type of events without the prefix of an installation, and what it means. */
export const EVENT_TYPES: readonly { readonly type: string; readonly help: string }[] = ${JSON.stringify(listed, null, 2)};
`;
}

function allTypes(): EventType[] {
  const services = Object.values(api).filter(
    (value) => typeof value === "object" && "kind" in value && value.kind === "service",
  ) as DescService[];
  const types = [...eventTypes(services.flatMap(({ methods }) => methods)).values()];
  return types.toSorted((one, other) => (one.type < other.type ? -1 : 1));
}

/** The text without the method's name in front. */
function sentenceOf(text: string): string {
  const rest = text.replace(/^[A-Z][a-z]+[A-Z]\w* /, "");
  return `${rest.charAt(0).toUpperCase()}${rest.slice(1)}`;
}

function section(event: EventType): string {
  const body = JSON.stringify(JSON.parse(bodyOf(event.body, exampleBody(event))), undefined, 2);
  const data = `{\n  "actor": ${JSON.stringify(exampleActor(event))},\n  "body": ${body.replaceAll("\n", "\n  ")}\n}`;
  return `## \`${prefix}.${event.type}\`\n\n${meaningOf(event)} Body: \`${event.body.typeName}\`.\n\n\`\`\`json\n${data}\n\`\`\`\n`;
}

/**
 * The text after the name in the comment of the event's message, or the first sentence of the comments of the methods.
 */
function meaningOf({ body, methods, hasOwnBody }: EventType): string {
  const comments = hasOwnBody ? [body.typeName] : methods.map(({ parent, name }) => `${parent.typeName}.${name}`);
  return comments
    .map((name) => {
      const comment = COMMENTS[name];
      if (comment === undefined) throw new Error(`${name} has no comment`);
      return hasOwnBody
        ? comment.slice(comment.indexOf(": ") + 2).replace(/^./, (letter) => letter.toUpperCase())
        : comment.replace(/\.(?: .*)?$/s, ".");
    })
    .join(" ");
}
