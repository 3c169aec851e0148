// An image for people.
import { isObject, numberIn, objectIn, objectsIn, textIn, textsIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";
import { sizeText } from "../output/cells.ts";
import { staleText } from "../resources/knowledge.ts";
import { REFERRERS } from "./image-referrers.ts";
import type { Pen } from "./report.ts";
import { SEVERITIES, SEVERITY_COLORS } from "./severities.ts";

const LABEL_WIDTH = 12;
const TAGS_SHOWN = 20;
// What a configuration says, as OCI's image specification calls it, and as people do.
const SETTINGS = [
  ["Entrypoint", "entrypoint"],
  ["Cmd", "command"],
  ["User", "user"],
  ["WorkingDir", "folder"],
  ["Env", "environment"],
  ["ExposedPorts", "ports"],
  ["Volumes", "volumes"],
  ["Labels", "labels"],
] as const;

/** The text of `images inspect`. */
export async function inspectText(label: string, item: JsonObject, pen: Pen): Promise<string> {
  const line = (name: string, value: string): string => `${name.padEnd(LABEL_WIDTH)}${pen.ink(value)}`;
  const tags = textsIn(item, "tags");
  const lines = [
    pen.ink(label, "bold"),
    textIn(item, "digest"),
    line("type", textIn(item, "artifactType") || textIn(item, "mediaType")),
    line("size", sizeText(textIn(item, "size"))),
    line(
      "tags",
      tags.length === 0
        ? "(none)"
        : `${tags.slice(0, TAGS_SHOWN).join(", ")}${tags.length > TAGS_SHOWN ? `, and ${tags.length - TAGS_SHOWN} more` : ""}`,
    ),
    `${"findings".padEnd(LABEL_WIDTH)}${findingsText(item["findings"], pen)}`,
    ...entryLines("annotations", objectIn(item, "annotations"), pen),
  ];
  for (const platform of objectsIn(item, "platforms")) lines.push("", ...(await platformLines(platform, pen)));
  const referrers = objectsIn(item, "referrers");
  if (referrers.length > 0) {
    lines.push("", pen.ink("Attached", "bold"), (await pen.table(REFERRERS.columns, referrers)).trimEnd());
  }
  return `${lines.join("\n")}\n`;
}

/** How many findings of each severity, the worst first. */
function findingsText(summary: unknown, pen: Pen): string {
  if (!isObject(summary as JsonObject)) return "not shown: you may not list findings here";
  const counts = summary as JsonObject;
  const found = SEVERITIES.filter((severity) => numberIn(counts, severity) > 0);
  const unread = textsIn(counts, "notRead");
  const parts = found.map((severity) =>
    pen.ink(`${numberIn(counts, severity)} ${severity}`, SEVERITY_COLORS[severity]),
  );
  if (unread.length > 0) parts.push(pen.ink(`not known: ${unread.join("; ")}`, "yellow"));
  const notCompared = numberIn(counts, "notCompared");
  if (notCompared > 0) parts.push(pen.ink(`${notCompared} not compared: see moorage images coverage`, "yellow"));
  if (parts.length === 0)
    parts.push(counts["state"] === "UNSPECIFIED" ? "not looked for: it is not an image" : pen.ink("none", "green"));
  const stale = staleText(objectsIn(counts, "staleFeeds"));
  return [parts.join(", "), ...(stale === "" ? [] : [pen.ink(stale, "yellow")])].join("; ");
}

async function platformLines(platform: JsonObject, pen: Pen): Promise<string[]> {
  const name = textIn(platform, "platform") || "(no platform)";
  const head = `${pen.ink(name, "bold")}  ${pen.digest(textIn(platform, "digest"))}`;
  if (platform["stored"] === false) return [head, "  is not stored here"];
  const config = objectIn(platform, "config");
  const line = (label: string, value: string): string => `  ${label.padEnd(LABEL_WIDTH)}${pen.ink(value)}`;
  const lines = [head, line("size", sizeText(textIn(platform, "size")))];
  if (textIn(platform, "created") !== "") lines.push(line("created", textIn(platform, "created")));
  for (const [field, label] of SETTINGS) {
    const value = config[field];
    if (typeof value === "string" && value !== "") lines.push(line(label, value));
    else if (Array.isArray(value) && value.length > 0)
      lines.push(
        field === "Env"
          ? `  ${label}\n${textsIn(config, field)
              .map((each) => `    ${pen.ink(each)}`)
              .join("\n")}`
          : line(label, JSON.stringify(value)),
      );
    else if (isObject(value)) lines.push(...entryLines(label, value, pen, "  "));
  }
  const layers = objectsIn(platform, "layers");
  lines.push(`  ${"layers".padEnd(LABEL_WIDTH)}${layers.length}`);
  for (const layer of layers)
    lines.push(`    ${pen.digest(textIn(layer, "digest"))}  ${sizeText(textIn(layer, "size"))}`);
  return lines;
}

/** Names and values, a line each: labels and annotations; names alone where there are no values. */
function entryLines(label: string, entries: JsonObject, pen: Pen, indent = ""): string[] {
  const names = Object.keys(entries);
  if (names.length === 0) return [];
  if (names.every((name) => typeof entries[name] !== "string"))
    return [`${indent}${label.padEnd(LABEL_WIDTH)}${pen.ink(names.join(", "))}`];
  return [`${indent}${label}`, ...names.map((name) => `${indent}  ${pen.ink(`${name}=${textIn(entries, name)}`)}`)];
}
