import { type Advisory, type AdvisoryEvent, AdvisoryEventSchema, AdvisorySchema } from "@moorage/api/messages";
import { AdvisoryEvent_ComponentLocationChangedSchema as LocationChangeSchema } from "@moorage/api/v1/vulnerabilities";
import { validateChange, violationsOf } from "@moorage/kernel/aip/validate";
import type { CallData } from "@moorage/kernel/core/call";
import { type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { locationChangeOf } from "./location-changes.ts";
import { folded } from "./lookups.ts";

const ALIAS = /^[A-Za-z0-9][A-Za-z0-9:._-]{0,127}$/;
const MAX_FINDINGS_BYTES = 16 << 10;

/** Throws INVALID_ARGUMENT with all that is wrong with a new advisory and its first events. */
export function checkNew(call: Pick<CallData, "v1">, advisory: Advisory): void {
  refuse([
    ...violationsOf(AdvisorySchema, advisory),
    ...aliasViolations(advisory),
    ...advisory.events.flatMap((event, at) => typeViolations(call, event, `events[${at}].`)),
  ]);
}

/** Throws INVALID_ARGUMENT for aliases that are no ids, or of which two are the same. */
export function checkAliases(advisory: Advisory): void {
  refuse(aliasViolations(advisory));
}

/** Throws INVALID_ARGUMENT with all that is wrong with a new event. */
export function checkNewEvent(call: Pick<CallData, "v1">, event: AdvisoryEvent): void {
  refuse([...violationsOf(AdvisoryEventSchema, event), ...typeViolations(call, event, "")]);
}

/** Throws INVALID_ARGUMENT for what a change makes wrong. */
export function checkChangedEvent(call: Pick<CallData, "v1">, before: AdvisoryEvent, after: AdvisoryEvent): void {
  validateChange(AdvisoryEventSchema, before, after);
  refuse(typeViolations(call, after, ""));
}

function aliasViolations({ aliases }: Advisory): FieldViolation[] {
  const seen = new Set<string>();
  return aliases.flatMap((alias, at): FieldViolation[] => {
    const field = `aliases[${at}]`;
    if (!ALIAS.test(alias)) return [{ field, description: "must be an id of a vulnerability, such as CVE-2026-1234" }];
    if (seen.has(folded(alias))) return [{ field, description: "must be there once" }];
    seen.add(folded(alias));
    return [];
  });
}

function typeViolations(call: Pick<CallData, "v1">, event: AdvisoryEvent, path: string): FieldViolation[] {
  const { type, findings } = event;
  const change = locationChangeOf(call, event);
  return [
    ...(change !== undefined
      ? violationsOf(LocationChangeSchema, change, `${path}componentLocationChanged.`)
      : type.case === undefined
        ? [{ field: `${path}type`, description: "one of the types is required" }]
        : []),
    ...(findings.length > MAX_FINDINGS_BYTES
      ? [{ field: `${path}findings`, description: `must have at most ${MAX_FINDINGS_BYTES} bytes` }]
      : []),
  ];
}

function refuse(violations: FieldViolation[]): void {
  if (violations.length > 0) throw invalidArgument(...violations);
}
