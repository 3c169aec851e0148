// Writes the list of the types of events into docs/events.md, from the descriptors. With --check it only says whether
// the committed page has it as it would be written.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DescService } from "@bufbuild/protobuf";
import * as api from "@moorage/api";
import { COMMENTS } from "@moorage/api/gen/moorage/comments";
import { SETTINGS } from "../packages/server/src/config.ts";
import { bodyOf } from "../packages/server/src/events/body.ts";
import { type EventType, eventTypes } from "../packages/server/src/events/types.ts";
import { exampleActor, exampleBody } from "./event-example.ts";

const BEGIN = "<!-- The types of events, written by `npm run generate` out of proto/: change them there. -->";
const END = "<!-- The end of what is generated. -->";
const page = join(dirname(import.meta.dirname), "docs/events.md");
const prefix = SETTINGS.find(({ name }) => name === "MOORAGE_EVENTS_PREFIX")?.fallback ?? "";

const services = Object.values(api).filter(
  (value) => typeof value === "object" && "kind" in value && value.kind === "service",
) as DescService[];
const types = [...eventTypes(services.flatMap(({ methods }) => methods)).values()].toSorted((one, other) =>
  one.type < other.type ? -1 : 1,
);
const before = readFileSync(page, "utf8");
const [start, end] = [before.indexOf(BEGIN), before.indexOf(END)];
if (start < 0 || end < start) throw new Error("docs/events.md lacks the lines between which the types of events stand");
const written = `${before.slice(0, start + BEGIN.length)}\n\n${types.map(section).join("\n")}\n${before.slice(end)}`;
if (!process.argv.includes("--check")) {
  writeFileSync(page, written);
} else if (before !== written) {
  console.error("docs/events.md is out of date: run `npm run generate` and commit what it changes");
  process.exitCode = 1;
}

function section(event: EventType): string {
  const body = JSON.stringify(JSON.parse(bodyOf(event.body, exampleBody(event))), undefined, 2);
  const data = `{\n  "actor": ${JSON.stringify(exampleActor(event))},\n  "body": ${body.replaceAll("\n", "\n  ")}\n}`;
  return `### \`${prefix}.${event.type}\`\n\n${meaningOf(event)} Body: \`${event.body.typeName}\`.\n\n\`\`\`json\n${data}\n\`\`\`\n`;
}

/** What the message's comment says after its name, or what the methods do, in the first sentence of their comments. */
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
