import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type AdvisoryEvent,
  type AdvisoryEvent_Detection,
  AdvisoryEvent_FalsePositiveDetermination_Type as FalsePositive,
  type DocumentAdvisorySchema,
  type DocumentEvent_DetectionSchema,
  type DocumentEventSchema,
  ReviewState,
} from "@moorage/api/messages";
import { isObject } from "@moorage/kernel/lib/json";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import type { Row } from "@moorage/kernel/store";
import { packageKey } from "../matching/package-keys.ts";
import type { JoinedFeed } from "./join.ts";

type Entry = Exclude<MessageInitShape<typeof DocumentAdvisorySchema>, { $typeName: string }> & { id: string };
type Event = Exclude<MessageInitShape<typeof DocumentEventSchema>, { $typeName: string }>;
type DetectionType = NonNullable<MessageInitShape<typeof DocumentEvent_DetectionSchema>["type"]>;

/** What a group's advisory says in a document: its approved events. */
export function advisoryEntry(row: Row<"advisories">, events: readonly AdvisoryEvent[]): Entry {
  const approved = events.filter(({ reviewState }) => reviewState === ReviewState.APPROVED);
  return {
    id: row.advisory_id,
    aliases: JSON.parse(row.aliases) as string[],
    packageNamespace: row.artifact_type,
    events: approved.map(({ createTime, type }): Event => ({
      ...(createTime && { timestamp: createTime }),
      type: ownType(type),
    })),
  };
}

function ownType(type: AdvisoryEvent["type"]): NonNullable<Event["type"]> {
  if (type.case === "detection") return { case: "detection", value: { type: ownDetection(type.value.type) } };
  if (type.case !== "fixed") return type;
  const { fixedVersion, scannerVersion, grypeDbBuilt, grypeDbChecksum } = type.value;
  return { case: "fixed", value: { fixedVersion, scannerVersion, grypeDbBuilt, grypeDbChecksum } };
}

function ownDetection(type: AdvisoryEvent_Detection["type"]): DetectionType {
  if (type.case !== "scanv1") return type;
  const { $typeName: _, subpackage, component, ...same } = type.value;
  return { case: "scanv1", value: { ...same, subpackageName: subpackage, componentName: component } };
}

/** What a record of a feed says in a document about the package with this key. */
export function feedEntry(
  feed: JoinedFeed,
  { key, record, modified }: { key: string; record: string; modified: number },
  body: Record<string, unknown>,
): Entry {
  const common = { packageNamespace: key.slice(0, key.indexOf("/")), feed: feed.name, licence: feed.licence };
  if (feed.format === "alpine-secdb")
    return { ...common, id: textOf(body["id"]), events: [DETECTED, ...textsOf(body["fixed"]).map(alpineFix)] };
  if (feed.format === "debian-tracker") return { ...common, id: textOf(body["id"]), events: debianEvents(body, key) };
  return { ...common, id: record, aliases: textsOf(body["aliases"]), events: osvEvents(body, key, modified) };
}

const DETECTED: Event = { type: { case: "detection", value: {} } };

function alpineFix(version: string): Event {
  return version === "0" ? NEVER_AFFECTED : { type: { case: "fixed", value: { fixedVersion: version } } };
}

/** Distributions write a fix in version 0 for a package that never had the vulnerability. */
const NEVER_AFFECTED: Event = {
  type: {
    case: "falsePositiveDetermination",
    value: { type: FalsePositive.VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE, note: "never affected" },
  },
};

function debianEvents(body: Record<string, unknown>, key: string): Event[] {
  const name = textOf(body["package"]);
  const releases = isObject(body["releases"]) ? Object.entries(body["releases"]) : [];
  const [, state] = releases.find(([release]) => packageKey({ ecosystem: `Debian:${release}`, name }) === key) ?? [];
  if (!isObject(state)) return [DETECTED];
  const fixed = textOf(state["fixed_version"]);
  if (fixed === "0") return [DETECTED, NEVER_AFFECTED];
  if (state["status"] === "resolved" && fixed !== "") return [DETECTED, alpineFix(fixed)];
  if (state["nodsa_reason"] !== "ignored") return [DETECTED];
  return [DETECTED, { type: { case: "fixNotPlanned", value: { note: textOf(state["nodsa"]) } } }];
}

function osvEvents(body: Record<string, unknown>, key: string, modified: number): Event[] {
  const published = Date.parse(textOf(body["published"]));
  const fixed = new Set<string>();
  for (const affected of objectsOf(body["affected"])) {
    const { ecosystem, name, purl } = isObject(affected["package"]) ? affected["package"] : {};
    const named = { ecosystem: textOf(ecosystem), name: textOf(name), purl: textOf(purl) || undefined };
    if (packageKey(named) !== key) continue;
    for (const range of objectsOf(affected["ranges"]))
      if (range["type"] !== "GIT")
        for (const event of objectsOf(range["events"])) if (event["fixed"]) fixed.add(textOf(event["fixed"]));
  }
  return [
    { ...DETECTED, timestamp: timestamp(Number.isNaN(published) ? modified : published) },
    ...[...fixed].map((version): Event => ({ ...alpineFix(version), timestamp: timestamp(modified) })),
  ];
}

const objectsOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isObject) : []);
const textOf = (value: unknown): string => (typeof value === "string" ? value.toWellFormed() : "");
const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(textOf).filter(Boolean) : []);
