/** An RFC 3339 time as a field of type `datetime-local` has it, in the reader's time zone; empty without one. */
export function localTime(value: string | undefined): string {
  const ms = Date.parse(value ?? "");
  if (Number.isNaN(ms)) return "";
  const offsetMs = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - offsetMs).toISOString().slice(0, 19);
}

/** The RFC 3339 time of what such a field has; undefined when it is empty. */
export function timeOfLocal(text: FormDataEntryValue | null): string | undefined {
  const ms = Date.parse(String(text ?? ""));
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
