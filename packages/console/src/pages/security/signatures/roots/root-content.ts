import type { BadgeLook } from "../../../../ui/badge.tsx";

/** An authority or a log of a trusted root. */
export interface RootPart {
  kind: string;
  name: string;
  /** From when and until when it counts; undefined where nothing is said. */
  start: string | undefined;
  end: string | undefined;
}

const AUTHORITIES = "Certificate authority";
const MAX_LENGTH = 131_072;
const MAX_OF_KIND = 50;
const KINDS = [
  ["certificateAuthorities", AUTHORITIES],
  ["tlogs", "Transparency log"],
  ["ctlogs", "Log of certificates"],
  ["timestampAuthorities", "Time-stamping authority"],
] as const;

/**
 * The authorities and logs that a trusted root names; undefined for a text that is none. Source:
 * sigstore/protobuf-specs, sigstore_trustroot.proto.
 */
export function contentOf(trustedRoot: string): RootPart[] | undefined {
  const root = parsed(trustedRoot);
  if (root === undefined) return undefined;
  return KINDS.flatMap(([field, kind]) => listAt(root, field).map((part) => partOf(kind, part)));
}

/** Whether a part counts now, in a word or two. */
export function partWord({ start, end }: RootPart, nowMs: number): readonly [word: string, look: BadgeLook] {
  if (end !== undefined && Date.parse(end) <= nowMs) return ["Ended", "warning"];
  if (start !== undefined && Date.parse(start) > nowMs) return ["Not yet", "warning"];
  return end === undefined ? ["No end stated", "outline"] : ["Valid", "success"];
}

/** Whether no authority counts now, so that nothing that is signed now is verified. */
export function hasEnded(parts: readonly RootPart[], nowMs: number): boolean {
  const authorities = parts.filter(({ kind }) => kind === AUTHORITIES);
  return authorities.every((each) => partWord(each, nowMs)[1] === "warning");
}

/** The parts in a line: the names of the authorities, and how many others there are. */
export function contentWords(parts: readonly RootPart[]): string {
  const authorities = parts.filter(({ kind }) => kind === AUTHORITIES).map(({ name }) => name);
  const others = parts.length - authorities.length;
  return [[...new Set(authorities)].join(", "), ...(others > 0 ? [`${others} more`] : [])].join(" and ");
}

function partOf(kind: string, part: Fields): RootPart {
  const { uri, baseUrl } = part;
  const subject = fieldsAt(part, "subject");
  const valid = fieldsAt(part, "validFor") ?? fieldsAt(fieldsAt(part, "publicKey") ?? {}, "validFor");
  const names = [textOf(subject?.["commonName"]), textOf(subject?.["organization"]), textOf(uri), textOf(baseUrl)];
  return {
    kind,
    name: names.find((each) => each !== undefined) ?? "no name",
    start: textOf(valid?.["start"]),
    end: textOf(valid?.["end"]),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function parsed(text: string): Fields | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function fieldsAt(fields: Fields, name: string): Fields | undefined {
  const value = fields[name];
  return isFields(value) ? value : undefined;
}

function listAt(fields: Fields, name: string): Fields[] {
  const value = fields[name];
  return Array.isArray(value) ? value.filter(isFields).slice(0, MAX_OF_KIND) : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
