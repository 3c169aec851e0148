// `moorage images coverage`: what is known of an image, and what is not.
import { pin } from "../api/image-digest.ts";
import { numberIn, objectsIn, textIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";
import { staleText, stateIn } from "../resources/knowledge.ts";
import { type Pen, printReport } from "./report.ts";
import { openSession, type TaskFlags } from "./session.ts";

const MAX_FILES_SHOWN = 50;

/** Prints what is known of an image, or of each image of an index. */
export async function printCoverage(reference: string, flags: TaskFlags): Promise<void> {
  const session = await openSession(flags);
  const { repo, digest, name, tag } = await pin(session, await session.names.imageOf(reference));
  const label = tag === undefined ? `${name}@${digest}` : `${name}:${tag}`;
  const item = await session.rest.call("GET", `/vulnerabilities/v2/repos/${repo}/digests/${digest}/coverage`);
  const listing = { field: "images", columns: [], nameOf: () => label, idOf: () => digest };
  await printReport({ item, listing, text: (pen) => coverageText(label, item, pen) }, flags);
}

function coverageText(label: string, item: JsonObject, pen: Pen): string {
  const images = objectsIn(item, "images");
  const lines = [`${pen.ink(label, "bold")}: ${stateText(item, pen)}`];
  for (const image of images) lines.push(...imageLines(image, pen));
  const stale = staleText(objectsIn(item, "staleFeeds"));
  if (stale !== "") lines.push("", pen.ink(stale, "yellow"));
  return `${lines.join("\n")}\n`;
}

function imageLines(image: JsonObject, pen: Pen): string[] {
  const reason = textIn(image, "reason");
  const name = textIn(image, "platform") || textIn(image, "digest");
  const lines = [
    "",
    `${pen.ink(name, "bold")}: ${stateText(image, pen)}`,
    `  ${countText(numberIn(image, "packages"), "package")}`,
  ];
  const uncovered = objectsIn(image, "uncovered");
  // What is not covered is listed in full below.
  if (reason !== "" && stateIn(image) !== "NO_DATA") lines.push(`  ${pen.wrap(`not known: ${reason}`, "  ")}`);
  for (const each of uncovered) {
    const preset = textIn(each, "preset");
    const count = countText(numberIn(each, "packages"), "package");
    const remedy = preset === "" ? "no preset of feeds would" : `moorage feeds add ${preset} would`;
    lines.push(`  no feed covers ${pen.ink(`${count} of ${textIn(each, "ecosystem")}`)}: ${remedy}`);
  }
  const notCompared = numberIn(image, "notCompared");
  if (notCompared > 0)
    lines.push(`  ${countText(notCompared, "package")} with versions that cannot be compared with those of records:`);
  for (const each of objectsIn(image, "packagesNotCompared").slice(0, MAX_FILES_SHOWN))
    lines.push(`    ${pen.ink(textIn(each, "purl"))}`);
  if (notCompared > MAX_FILES_SHOWN) lines.push(`    and ${notCompared - MAX_FILES_SHOWN} more: see -o json`);
  const files = objectsIn(image, "files");
  const unread = numberIn(image, "unreadFiles");
  if (unread > 0) lines.push(`  ${countText(unread, "file")} could not be read or identified:`);
  for (const file of files.slice(0, MAX_FILES_SHOWN))
    lines.push(
      `    ${pen.ink([textIn(file, "path"), textIn(file, "reason")].filter((text) => text !== "").join(": "))}`,
    );
  if (files.length > MAX_FILES_SHOWN) lines.push(`    and ${files.length - MAX_FILES_SHOWN} more: see -o json`);
  return lines;
}

function stateText(item: JsonObject, pen: Pen): string {
  const state = stateIn(item);
  if (state === "UNSPECIFIED") return "not an image: no findings are looked for";
  return pen.ink(state, state === "READ" ? "green" : "yellow");
}

const countText = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
