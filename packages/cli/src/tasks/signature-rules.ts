// The flags by which a rule of a signature policy says what must be signed.
import { Option } from "commander";
import type { JsonObject } from "../api/rest.ts";
import { durationOfFlag } from "../command/duration.ts";
import { UsageFailure } from "../command/failure.ts";
import { repeatable } from "./options.ts";

type Flags = Readonly<Record<string, unknown>>;

/** The options beside --signer, in the order in which help has them. */
export const RULE_OPTIONS: readonly (() => Option)[] = [
  () => new Option("--predicate-type <type>", "an attestation that states this, in place of a signature of the image"),
  () => new Option("--threshold <number>", "signed by so many different keys or identities"),
  () => repeatable("--annotation <name=value>", "signed with this annotation, as by cosign sign -a (repeatable)"),
  () => new Option("--same-name", "what is signed must name this image"),
  () => new Option("--max-age <duration>", "made within this time, by the word of a log or a time stamp, such as 30d"),
  () => repeatable("--builder-id <id>", "provenance of one of these builders (repeatable)"),
  () => repeatable("--source-uri <uri>", "provenance from one of these sources (repeatable)"),
  () => repeatable("--source-ref <ref>", "provenance from one of these branches or tags (repeatable)"),
  () => repeatable("--build-type <type>", "provenance of one of these kinds of builds (repeatable)"),
  () =>
    repeatable(
      "--condition <condition>",
      "what the predicate says at a JSON pointer: '/a/b=value', '/a/b>=1' or '/a/b<=2' (repeatable)",
    ),
  () =>
    repeatable(
      "--newer <pointer=duration>",
      "a time in the predicate within this time, as /finishedOn=7d (repeatable)",
    ),
];

/** The first of these flags that is given; undefined when none is. */
export function isRuleFlag(flags: Flags): string | undefined {
  return RULE_OPTIONS.map((option) => option())
    .filter((option) => flags[option.attributeName()] !== undefined)
    .map(({ long }) => long ?? "")[0];
}

/** What a rule asks for beside its signers. Throws a UsageFailure that names the flag. */
export function contentOf(flags: Flags): JsonObject {
  const { predicateType, threshold, sameName, maxAge } = flags as Partial<Record<string, string>>;
  const provenance = provenanceOf(flags);
  const annotations = listOf(flags, "annotation").map((text) => pairOf("--annotation", text));
  const conditions = conditionsOf(flags);
  return {
    ...(predicateType !== undefined && { predicateType }),
    ...(threshold !== undefined && { threshold: numberOf("--threshold", threshold) }),
    ...(sameName !== undefined && { sameName: true }),
    ...(maxAge !== undefined && { maxAge: secondsOf("--max-age", maxAge) }),
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }),
    ...(provenance !== undefined && { provenance }),
    ...(conditions.length > 0 && { conditions }),
  };
}

function provenanceOf(flags: Flags): JsonObject | undefined {
  const [builderIds, sourceUris] = [listOf(flags, "builderId"), listOf(flags, "sourceUri")];
  const [sourceRefs, buildTypes] = [listOf(flags, "sourceRef"), listOf(flags, "buildType")];
  const asked = { builderIds, sourceUris, sourceRefs, buildTypes };
  return Object.values(asked).some((values) => values.length > 0) ? asked : undefined;
}

/** The conditions, those of one pointer together. */
function conditionsOf(flags: Flags): JsonObject[] {
  const found = new Map<string, { pointer: string; values?: string[] } & JsonObject>();
  const at = (pointer: string) => {
    const known = found.get(pointer) ?? { pointer };
    found.set(pointer, known);
    return known;
  };
  for (const text of listOf(flags, "condition")) {
    const [, pointer, operator, value] = /^(\/[^=<>]*)(>=|<=|=)([^]*)$/.exec(text) ?? [];
    if (pointer === undefined || value === undefined)
      throw new UsageFailure(`must be such as /a/b=value, /a/b>=1 or /a/b<=2, not ${text}`, { field: "--condition" });
    const condition = at(pointer);
    if (operator === "=") condition.values = [...(condition.values ?? []), value];
    else condition[operator === ">=" ? "atLeast" : "atMost"] = numberOf("--condition", value);
  }
  for (const text of listOf(flags, "newer")) {
    const [pointer, duration] = pairOf("--newer", text);
    at(pointer)["newerThan"] = secondsOf("--newer", duration);
  }
  return [...found.values()];
}

function listOf(flags: Flags, name: string): string[] {
  return (flags[name] as string[] | undefined) ?? [];
}

function pairOf(field: string, text: string): [name: string, value: string] {
  const at = text.indexOf("=");
  if (at <= 0) throw new UsageFailure(`must be a name, = and a value, not ${text}`, { field });
  return [text.slice(0, at), text.slice(at + 1)];
}

function numberOf(field: string, text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number)) throw new UsageFailure("must be a number", { field });
  if (field === "--threshold" && !Number.isInteger(number)) throw new UsageFailure("must be a whole number", { field });
  return number;
}

function secondsOf(field: string, text: string): string {
  return `${durationOfFlag(field, text) / 1_000}s`;
}
