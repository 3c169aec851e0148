// One resource as aligned lines of fields and values, what is in them indented.
import type { Json, JsonObject } from "../api/rest.ts";
import { printable, printableLines } from "../printable.ts";
import { ageText, sizeText } from "./cells.ts";
import { paint } from "./color.ts";
import { pad, widthOf } from "./width.ts";

const INDENT = "  ";
const LONGEST_LIST = 60;

/** How the lines are shown. */
export interface DetailsStyle {
  /** Times get their age. */
  terminal: boolean;
  colored: boolean;
  nowMs: number;
  /** The name of the resource, which stands behind its uid. */
  name?: string;
}

/** The lines of a resource. Fields are called as in the API; those without a value are left out. */
export function detailLines(item: JsonObject, style: DetailsStyle, indent = ""): string[] {
  const fields = Object.entries(item).filter(([, value]) => !isEmpty(value));
  const flat = fields.flatMap(([name, value]) => {
    const text = flatText(name, value, style);
    return text === undefined ? [] : [{ name, text }];
  });
  const width = Math.max(0, ...flat.map(({ name }) => widthOf(printable(name)) + 1));
  return fields.flatMap(([name, value]) => {
    const label = `${printable(name)}:`;
    const shown = (text: string): string => (style.colored ? text.replace(label, () => paint(label, "bold")) : text);
    const text = flat.find((entry) => entry.name === name)?.text;
    const known = name === "uid" && style.name !== undefined && style.name !== value && ` (${printable(style.name)})`;
    if (text !== undefined) return [shown(`${indent}${pad(label, width)} ${text}${known || ""}`)];
    // What is inside has uids of its own.
    const inside = { terminal: style.terminal, colored: style.colored, nowMs: style.nowMs };
    return [shown(`${indent}${label}`), ...nestedLines(value, inside, indent + INDENT)];
  });
}

function isEmpty(value: Json): boolean {
  if (value === null || value === "") return true;
  if (typeof value === "string") return /^[A-Z][A-Z0-9_]*_UNSPECIFIED$/.test(value);
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** What fits behind a field's name; undefined for objects and for texts and lists that need lines of their own. */
function flatText(name: string, value: Json, style: DetailsStyle): string | undefined {
  if (Array.isArray(value)) {
    const list = value.map((entry) => (typeof entry === "object" ? "\n" : scalar(name, entry, style))).join(", ");
    return list.includes("\n") || widthOf(list) > LONGEST_LIST ? undefined : list;
  }
  if (value !== null && typeof value === "object") return undefined;
  if (typeof value === "string" && value.trimEnd().includes("\n")) return undefined;
  return scalar(name, value, style);
}

function scalar(name: string, value: Json, { terminal, nowMs }: DetailsStyle): string {
  const text = printable(String(value).trimEnd());
  if (/Time$|^time$/.test(name) && terminal && !Number.isNaN(Date.parse(text)))
    return `${text} (${ageText(text, nowMs)})`;
  if (/(^size|Size|[bB]ytes)$/.test(name) && /^\d{4,}$/.test(text)) return `${text} (${sizeText(text)})`;
  return text;
}

function nestedLines(value: Json, style: DetailsStyle, indent: string): string[] {
  if (typeof value === "string") return linesIn(value, indent);
  if (!Array.isArray(value))
    return value !== null && typeof value === "object" ? detailLines(value, style, indent) : [];
  return value.flatMap((entry) => {
    const lines =
      entry !== null && typeof entry === "object"
        ? Array.isArray(entry)
          ? nestedLines(entry, style, "")
          : detailLines(entry, style)
        : linesIn(String(entry), "");
    return lines.map((line, at) => `${indent}${at === 0 ? "- " : INDENT}${line}`);
  });
}

function linesIn(text: string, indent: string): string[] {
  return printableLines(text)
    .trimEnd()
    .split("\n")
    .map((line) => `${indent}${line}`);
}
