// A diff of two images for people.
import { numberIn, objectIn, objectsIn, textIn, textsIn, wordIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";
import { sizeText } from "../output/cells.ts";
import type { Color } from "../output/color.ts";
import { staleText } from "../resources/knowledge.ts";
import type { Pen } from "./report.ts";
import { SEVERITY_COLORS } from "./severities.ts";

const SHORT = "sha256:".length + 12;
const SIGNS: Readonly<Record<string, readonly [string, Color]>> = {
  CHANGE_KIND_ADDED: ["+", "green"],
  CHANGE_KIND_REMOVED: ["-", "red"],
  CHANGE_KIND_CHANGED: ["~", "yellow"],
};
// A finding that is new is bad, and one that is gone is good.
const FINDING_COLORS: Readonly<Record<string, Color>> = { "+": "red", "-": "green", "~": "yellow" };
const VALUE_LENGTH = 60;

/** The lines of a diff: sizes, packages, findings, and what differs for each platform. */
export function diffText(diff: JsonObject, name: string, pen: Pen): string {
  const [from, to] = [objectIn(diff, "from"), objectIn(diff, "to")];
  const lines = [pen.ink(`${name}  ${referenceOf(from)} → ${referenceOf(to)}`, "bold")];
  if (textIn(from, "digest") === textIn(to, "digest"))
    return (
      `${lines[0]}\nboth are ${textIn(from, "digest")}${isKnownThen(from, to) ? "" : ": no differences"}\n${findingLines(diff, pen).join("\n")}`.trimEnd() +
      "\n"
    );
  lines.push(
    `digest  ${shortDigest(from)} → ${shortDigest(to)}`,
    `size    ${sizeText(textIn(from, "size"))} → ${sizeText(textIn(to, "size"))} (${growth(numberIn(to, "size") - numberIn(from, "size"))})`,
    ...packageLines(diff, pen),
    ...findingLines(diff, pen),
    ...objectsIn(diff, "platforms").flatMap((platform) => platformLines(platform, pen)),
  );
  const annotations = valueLines(objectsIn(diff, "annotations"), "annotation", pen);
  if (annotations.length > 0) lines.push("", ...annotations);
  if (diff["truncated"] === true) lines.push("", "more differences of configuration, labels and layers are left out");
  return `${lines.join("\n")}\n`;
}

function packageLines(diff: JsonObject, pen: Pen): string[] {
  const found = objectsIn(diff, "packages");
  const counts = (["added", "removed", "changed"] as const).map((how) => `${numberIn(diff, `${how}Packages`)} ${how}`);
  const unknown = diff["packagesComplete"] === true ? [] : unknownLines(diff, "packages", pen);
  return [
    "",
    pen.ink(`Packages: ${counts.join(", ")}`, "bold"),
    ...unknown,
    ...found.map((each) => {
      const versions = [textsIn(each, "fromVersions"), textsIn(each, "toVersions")]
        .filter(({ length }) => length > 0)
        .map((list) => list.join(", "));
      return signed(each, `${textIn(each, "purl")} ${versions.join(" → ")}${platformsOf(diff, each)}`, pen);
    }),
  ];
}

function findingLines(diff: JsonObject, pen: Pen): string[] {
  const found = objectsIn(diff, "vulnerabilities");
  const counts = `${numberIn(diff, "addedVulnerabilities")} new, ${numberIn(diff, "removedVulnerabilities")} gone, ${numberIn(diff, "changedVulnerabilities")} changed`;
  const unknown = diff["vulnerabilitiesComplete"] === true ? [] : unknownLines(diff, "vulnerabilities", pen);
  const stale = staleText(objectsIn(diff, "staleFeeds"));
  return [
    "",
    pen.ink(`Findings: ${counts}`, "bold"),
    ...unknown,
    ...(stale === "" ? [] : [pen.ink(stale, "yellow")]),
    ...found.map((each) => {
      const [sign] = SIGNS[textIn(each, "kind")] ?? [" "];
      const severity = wordIn(each, "severity", "FINDING_SEVERITY_");
      const fixes = textsIn(
        objectIn(each, textIn(each, "kind") === "CHANGE_KIND_REMOVED" ? "from" : "to"),
        "fixVersions",
      );
      const states = (["from", "to"] as const).map((side) => wordIn(objectIn(each, side), "state", "FINDING_STATE_"));
      const change = sign === "~" && states[0] !== states[1] ? ` (${states.join(" → ")})` : "";
      const fix = fixes.length === 0 ? "" : `, fixed in ${fixes.join(", ")}`;
      const exploited = each["kev"] === true ? pen.ink(" exploited", "red") : "";
      return `${pen.ink(sign, FINDING_COLORS[sign])} ${pen.ink(severity.padEnd(8), SEVERITY_COLORS[severity])} ${pen.ink(textIn(each, "vulnerability"))} in ${pen.ink(textIn(each, "name"))}${fix}${change}${exploited}${platformsOf(diff, each)}`;
    }),
  ];
}

/** Why the packages or findings of a platform are not known. */
function unknownLines(diff: JsonObject, what: "packages" | "vulnerabilities", pen: Pen): string[] {
  const lines = objectsIn(diff, "platforms").flatMap((platform) =>
    (["from", "to"] as const).flatMap((side) => {
      const image = objectIn(platform, side);
      const reason = textIn(image, `${what}Reason`);
      const state = wordIn(image, "packagesState", "PACKAGES_STATE_");
      const why = reason || (what === "packages" && !["", "known"].includes(state) ? state : "");
      return why === "" ? [] : [`${textIn(platform, "platform")}, ${side}: ${why}`];
    }),
  );
  return [...new Set(lines)].map((line) => pen.ink(`! not all known: ${line}`, "yellow"));
}

function platformLines(platform: JsonObject, pen: Pen): string[] {
  const [sign, color] = SIGNS[textIn(platform, "kind")] ?? [];
  if (sign === undefined) return [];
  const image = objectIn(platform, sign === "-" ? "from" : "to");
  const head = pen.ink(`${sign} ${textIn(platform, "platform") || "(no platform)"}`, color);
  if (sign !== "~") return ["", `${head}  ${sizeText(textIn(image, "size"))}, ${numberIn(image, "layerCount")} layers`];
  const layers = objectsIn(platform, "layers").map(
    (layer) => `  ${signed(layer, `layer ${shortDigest(layer)} ${sizeText(textIn(layer, "size"))}`, pen)}`,
  );
  return [
    "",
    head,
    ...valueLines(objectsIn(platform, "config"), "", pen, "  "),
    ...valueLines(objectsIn(platform, "labels"), "label", pen, "  "),
    ...valueLines(objectsIn(platform, "annotations"), "annotation", pen, "  "),
    ...layers,
  ];
}

function valueLines(values: readonly JsonObject[], word: string, pen: Pen, indent = ""): string[] {
  return values.map((value) => {
    const [before, after] = [value["from"], value["to"]].map((each) => (typeof each === "string" ? each : undefined));
    const kind =
      before === undefined ? "CHANGE_KIND_ADDED" : after === undefined ? "CHANGE_KIND_REMOVED" : "CHANGE_KIND_CHANGED";
    const texts = [before, after].filter((each) => each !== undefined).map(shortened);
    return `${indent}${signed({ kind }, `${word === "" ? "" : `${word} `}${textIn(value, "name")}: ${texts.join(" → ")}`, pen)}`;
  });
}

function signed(item: JsonObject, text: string, pen: Pen): string {
  const [sign, color] = SIGNS[textIn(item, "kind")] ?? [" ", undefined];
  return `${pen.ink(sign, color)} ${pen.ink(text)}`;
}

/** The platforms that it is about, unless these are all. */
function platformsOf(diff: JsonObject, item: JsonObject): string {
  const all = objectsIn(diff, "platforms").length;
  const own = textsIn(item, "platforms");
  return own.length === 0 || own.length === all ? "" : ` (${own.join(", ")})`;
}

function shortened(text: string): string {
  return text.length > VALUE_LENGTH ? `${text.slice(0, VALUE_LENGTH)}…` : text;
}

/** As it was named: a digest by its beginning, a tag with its time. */
function referenceOf(side: JsonObject): string {
  return textIn(side, "tag") === "" ? shortDigest(side) : textIn(side, "reference");
}

function shortDigest(item: JsonObject): string {
  return textIn(item, "digest").slice(0, SHORT);
}

function isKnownThen(from: JsonObject, to: JsonObject): boolean {
  return textIn(from, "asOf") !== textIn(to, "asOf");
}

function growth(bytes: number): string {
  return bytes === 0 ? "no change" : `${bytes < 0 ? "-" : "+"}${sizeText(String(Math.abs(bytes)))}`;
}
