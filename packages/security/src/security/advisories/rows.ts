import { randomInt } from "node:crypto";
import { create, fromJson, type JsonValue, toJson, toJsonString } from "@bufbuild/protobuf";
import {
  type Advisory,
  type AdvisoryEvent,
  AdvisoryEventSchema,
  AdvisorySchema,
  EventTypeFilter,
  SeveritySchema,
} from "@moorage/api/messages";
import { resource } from "@moorage/kernel/aip/resource";
import type { CallData } from "@moorage/kernel/core/call";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";
import { notFound } from "@moorage/kernel/errors";
import type { Database, Row } from "@moorage/kernel/store";
import { locationChangeIn, locationChangeOf, locationColumns, setLocationChange } from "./location-changes.ts";

const LAYOUT = layoutOf(AdvisorySchema, { without: ["events", "severities"] });
const plainColumns = columnsOf(LAYOUT, "advisories", [
  "artifact_name",
  "artifact_type",
  "artifact_architecture",
  "component_name",
  "component_location",
  "component_type",
  "aliases",
  "legacy_advisory_id",
  "origin",
]);

/** The columns that a caller sets. */
export function advisoryColumns(advisory: Advisory): ReturnType<typeof plainColumns> & { severities: string } {
  return {
    ...plainColumns(advisory),
    severities: JSON.stringify(advisory.severities.map((severity) => toJson(SeveritySchema, severity))),
  };
}

/** Advisories without their events, deleted ones included. */
export const advisories = resource({
  message: AdvisorySchema,
  table: "advisories",
  toMessage: (row) => ({
    ...LAYOUT.fieldsOf(row),
    severities: (JSON.parse(row.severities) as JsonValue[]).map((severity) => fromJson(SeveritySchema, severity)),
  }),
  toRow: advisoryColumns,
});

/** An advisory that is not deleted, or undefined. */
export async function findAdvisory(db: Database, uid: string): Promise<Row<"advisories"> | undefined> {
  const row = await advisories.find(db, uid);
  return row?.delete_time === null ? row : undefined;
}

/** An advisory that is not deleted. Throws NOT_FOUND. */
export async function getAdvisory(db: Database, uid: string): Promise<Row<"advisories">> {
  const row = await findAdvisory(db, uid);
  if (row === undefined) throw notFound(AdvisorySchema.typeName, uid);
  return row;
}

/** Letters that are hard to mistake for each other, and make no words. Source: docs/contract.md, "Advisories". */
const LETTERS = "23456789cfghjmpqrvwx";

/** A new `MRG-xxxx-xxxx-xxxx`. */
export async function newAdvisoryId(db: Database): Promise<string> {
  for (;;) {
    const part = (): string => Array.from({ length: 4 }, () => LETTERS[randomInt(LETTERS.length)]).join("");
    const id = `MRG-${part()}-${part()}-${part()}`;
    const taken = await db.selectFrom("advisories").select("uid").where("advisory_id", "=", id).executeTakeFirst();
    if (taken === undefined) return id;
  }
}

const EVENT_LAYOUT = layoutOf(AdvisoryEventSchema, {
  without: ["findings", ...(AdvisoryEventSchema.oneofs[0]?.fields.map(({ name }) => name) ?? [])],
});
/** The columns of an event but its findings, which may be large. */
export const WITHOUT_FINDINGS = [...EVENT_LAYOUT.columns, "parent", "type", "content"] as unknown as Exclude<
  keyof Row<"advisory_events">,
  "findings"
>[];

/** An event of a row; without findings if the row was read without them. */
export function eventOf(row: Omit<Row<"advisory_events">, "findings"> & { findings?: string }): AdvisoryEvent {
  const event = create(AdvisoryEventSchema, {
    ...EVENT_LAYOUT.fieldsOf(row),
    findings: new Uint8Array(Buffer.from(row.findings ?? "", "base64")),
    // Types that only later versions know are left out.
    type: fromJson(AdvisoryEventSchema, JSON.parse(row.content) as JsonValue, { ignoreUnknownFields: true }).type,
  });
  const change = locationChangeIn(row);
  if (change !== undefined) setLocationChange(event, change);
  return event;
}

type TypeCase = NonNullable<AdvisoryEvent["type"]["case"]>;

const TYPES: Readonly<Record<TypeCase, EventTypeFilter>> = {
  detection: EventTypeFilter.DETECTION,
  truePositiveDetermination: EventTypeFilter.TRUE_POSITIVE_DETERMINATION,
  fixed: EventTypeFilter.FIXED,
  falsePositiveDetermination: EventTypeFilter.FALSE_POSITIVE_DETERMINATION,
  analysisNotPlanned: EventTypeFilter.ANALYSIS_NOT_PLANNED,
  fixNotPlanned: EventTypeFilter.FIX_NOT_PLANNED,
  pendingUpstreamFix: EventTypeFilter.PENDING_UPSTREAM_FIX,
  patched: EventTypeFilter.PATCHED,
};

/** The columns of an event that its author sets. */
export function eventColumns(
  call: Pick<CallData, "v1">,
  event: AdvisoryEvent,
): Pick<Row<"advisory_events">, "type" | "content" | "issue" | "findings"> {
  const { type, issue, findings } = event;
  const change = locationChangeOf(call, event);
  return {
    type: type.case === undefined ? 0 : TYPES[type.case],
    content: toJsonString(AdvisoryEventSchema, create(AdvisoryEventSchema, { type })),
    ...(change !== undefined && locationColumns(change)),
    issue,
    findings: Buffer.from(findings).toString("base64"),
  };
}
