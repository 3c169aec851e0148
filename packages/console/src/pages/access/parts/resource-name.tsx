import { type ChoiceKind, useChoices } from "./data.ts";

/** The name of a resource that another names by its uid; the uid where the person does not see it. */
export function Named({ kind, uid }: { kind: ChoiceKind; uid: string }) {
  const found = useChoices(kind).find(({ value }) => value === uid);
  return found === undefined ? <code>{uid}</code> : <>{found.label}</>;
}
