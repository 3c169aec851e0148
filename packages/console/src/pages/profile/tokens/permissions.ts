import type { Capability, Role } from "../../../api/gen/iam.ts";

/** What a token may do: a word, the built-in role whose capabilities it stands for, and its label. */
const PERMISSIONS = [
  { word: "pull", role: "registry.pull", label: "Pull", help: "Pull: images and packages" },
  { word: "push", role: "registry.push", label: "Pull and push", help: "Pull and push: images and packages" },
  { word: "read", role: "viewer", label: "Read", help: "Read: pull, and see everything that you can see" },
] as const;

/** The choices of a form: value and label. */
export const PERMISSION_OPTIONS: readonly (readonly [value: string, label: string])[] = [
  ...PERMISSIONS.map(({ word, help }) => [word, help] as const),
  ["all", "Everything that I can do"],
];

/** The capabilities of the word; none for all. Throws an Error where the person does not see the role. */
export function capabilitiesFor(word: string, roles: readonly Role[]): Capability[] {
  if (word === "all") return [];
  const role = PERMISSIONS.find((one) => one.word === word)?.role;
  const found = roles.find(({ name }) => name === role);
  if (found === undefined) throw new Error(`You cannot see the role ${role ?? word}.`);
  return found.capabilities;
}

/** What a token with these capabilities may do, in words; how many they are, where there is no word for just them. */
export function permissionWords(capabilities: readonly Capability[], roles: readonly Role[]): string {
  if (capabilities.length === 0) return "Everything that the person can do";
  const key = capabilities.toSorted().join();
  const found = PERMISSIONS.find(
    ({ role }) =>
      roles
        .find(({ name }) => name === role)
        ?.capabilities.toSorted()
        .join() === key,
  );
  return found?.label ?? `${capabilities.length} permissions`;
}
