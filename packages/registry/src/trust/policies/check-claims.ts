import type { SignatureCondition, SignatureProvenance, SignatureRule } from "@moorage/api/messages";
import type { FieldViolation } from "@moorage/kernel/errors";
import { SLSA_TYPES } from "../claims/provenance.ts";

const MAX_TEXT = 2_048;
/** RFC 6901: a pointer to something within a document. */
const POINTER = /^(?:\/(?:[^~/]|~[01])*)+$/;

/** What is wrong with what a rule asks of what is signed, by the fields of the rule. */
export function claimViolations(rule: SignatureRule): FieldViolation[] {
  const { annotations, provenance, conditions, predicateType } = rule;
  const found: FieldViolation[] = [];
  for (const [name, value] of Object.entries(annotations))
    if (name === "" || name.length > MAX_TEXT || value.length > MAX_TEXT)
      found.push({ field: "annotations", description: `must have names and values of at most ${MAX_TEXT} characters` });
  if (provenance !== undefined) found.push(...provenanceViolations(provenance, predicateType));
  if (conditions.length > 0 && predicateType === "" && provenance === undefined)
    found.push({
      field: "conditions",
      description: "need a predicateType: a signature of the image says nothing else",
    });
  return [...found, ...conditions.flatMap(conditionViolations)];
}

function provenanceViolations(asked: SignatureProvenance, predicateType: string): FieldViolation[] {
  const { builderIds, buildTypes, sourceUris, sourceRefs } = asked;
  const lists = { builderIds, buildTypes, sourceUris, sourceRefs };
  const found = Object.entries(lists).flatMap(([field, values]) =>
    values.flatMap((value, at) =>
      value !== "" && value.length <= MAX_TEXT
        ? []
        : [{ field: `provenance.${field}[${at}]`, description: `must have 1 to ${MAX_TEXT} characters` }],
    ),
  );
  if (Object.values(lists).every((values) => values.length === 0))
    found.push({ field: "provenance", description: "must ask for something" });
  if (predicateType !== "" && !SLSA_TYPES.has(predicateType))
    found.push({
      field: "predicateType",
      description: `must be empty or one of ${[...SLSA_TYPES].join(", ")} with provenance`,
    });
  return found;
}

function conditionViolations(condition: SignatureCondition, at: number): FieldViolation[] {
  const { pointer, values, atLeast, atMost, newerThan } = condition;
  const field = `conditions[${at}]`;
  const found: FieldViolation[] = [];
  if (!POINTER.test(pointer))
    found.push({ field: `${field}.pointer`, description: "must be a JSON pointer, such as /metadata/finishedOn" });
  if (values.length === 0 && atLeast === undefined && atMost === undefined && newerThan === undefined)
    found.push({ field, description: "must have values, atLeast, atMost or newerThan" });
  if (values.some((value) => value.length > MAX_TEXT))
    found.push({ field: `${field}.values`, description: `must have at most ${MAX_TEXT} characters each` });
  for (const [name, value] of Object.entries({ atLeast, atMost }))
    if (value !== undefined && !Number.isFinite(value))
      found.push({ field: `${field}.${name}`, description: "must be a finite number" });
  if (newerThan !== undefined && (newerThan.seconds <= 0n || newerThan.nanos < 0))
    found.push({ field: `${field}.newerThan`, description: "must be at least a second" });
  return found;
}
