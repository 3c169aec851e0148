import { ApiError } from "../api/errors.ts";

/** What is wrong with a field of a form, as the server said; undefined when nothing is. */
export type FieldErrors = (field: string) => string | undefined;

/**
 * The server's errors by field. A field has those of its parts too: `typePrefixes` has those of `typePrefixes[0]`.
 * Names are those of the API's JSON, such as `syncConfig.source`; what stands before them, as `repo.`, does not count.
 */
export function fieldErrors(error: unknown): FieldErrors {
  const violations = error instanceof ApiError ? error.violations : [];
  return (field) => {
    const found = violations.filter((violation) => isOf(camelCase(violation.field), field));
    return found.length === 0 ? undefined : found.map(({ description }) => description).join("; ");
  };
}

/** The error when it names none of the fields: what a form shows as a whole. */
export function otherError(error: unknown, fields: readonly string[]): unknown {
  if (!(error instanceof ApiError) || error.violations.length === 0) return error;
  const isKnown = error.violations.every((violation) =>
    fields.some((field) => isOf(camelCase(violation.field), field)),
  );
  return isKnown ? undefined : error;
}

/** Whether the violation's field is the field, a part of it, or it below something. */
function isOf(named: string, field: string): boolean {
  const at = named === field || /^[.[]/.test(named.slice(field.length)) ? named.startsWith(field) : false;
  if (at) return true;
  const inner = `.${field}`;
  const from = named.indexOf(inner);
  return from >= 0 && /^(?:$|[.[])/.test(named.slice(from + inner.length));
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
