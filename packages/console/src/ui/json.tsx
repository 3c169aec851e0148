import { Command } from "./command.tsx";

/** A value as JSON, as text and nothing else, to be read and copied. */
export function Json({ value, label }: { value: unknown; label: string }) {
  return <Command text={JSON.stringify(value, undefined, 2)} label={label} />;
}
