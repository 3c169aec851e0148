import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../../../api/errors.ts";
import { createRoleBinding } from "../../../api/gen/iam.ts";
import { query } from "../../../api/queries.ts";
import { Note } from "../../../ui/note.tsx";
import { type Choice, ChoiceField } from "./choice-field.tsx";
import { useChoices } from "./data.ts";
import { LETS_IN, openTo } from "./open-identities.ts";
import type { OwnField, Values } from "./resource.ts";

const OPEN: readonly Choice[] = [
  { value: "everybody", label: "everybody (public)", detail: "Every caller, also without a log-in" },
  { value: "signed-in", label: "signed-in (all who are signed in)", detail: "Whoever is signed in here" },
];

/**
 * Who gets a role: people and machines, and the built-in identities where the server allows a role for them. It is
 * asked by a call that changes nothing, on the group or, without one, on the first that the person sees.
 */
export function MemberChoice({ group, value, onChange, error }: OwnField & { group: string }) {
  const identities = useChoices("identity");
  const isOpenAllowed = useOpenAllowed(group);
  const choices = isOpenAllowed ? [...OPEN, ...identities] : identities;
  return <ChoiceField label="Person or machine" choices={choices} value={value} onChange={onChange} error={error} />;
}

function useOpenAllowed(group: string): boolean {
  const [first] = useChoices("group");
  const pull = useChoices("role").find(({ label }) => label === "registry.pull");
  const parent = group || (first?.value ?? "");
  const roleUid = pull?.value ?? "";
  const asked = { parent, roleBinding: { identityUid: "everybody", roleUid }, validateOnly: true };
  const { isSuccess, error } = useQuery({
    ...query(createRoleBinding, asked),
    enabled: parent !== "" && roleUid !== "",
    retry: false,
  });
  return isSuccess || (error instanceof ApiError && error.code === "ALREADY_EXISTS");
}

/** Says in red what a role for a built-in identity opens; nothing for people and machines. */
export function OpenWarning({ values }: { values: Values }) {
  const { identityUid = "" } = values;
  const isOpen = openTo(identityUid) !== undefined;
  if (!isOpen) return null;
  return (
    <Note look="danger">
      <strong>Public:</strong> {LETS_IN[identityUid === "everybody" ? "everybody" : "signed-in"]}: every image and
      package of the group and of everything below it, private ones included.
    </Note>
  );
}
