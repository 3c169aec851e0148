import { MACHINE_FORMS } from "@moorage/api/machines";
import { useQuery } from "@tanstack/react-query";
import { type ChoiceCard, ChoiceCards } from "./parts/choice-cards.tsx";
import { groupsQuery } from "./parts/data.ts";
import type { OwnField } from "./parts/resource.ts";
import { pathsOf } from "./parts/tree.ts";

/** The value of a machine that is described by claims or keys. */
export const OTHER = "other";

/** What a machine of each system is known by. */
const KNOWN_BY: Readonly<Record<string, readonly [title: string, text: string]>> = {
  github: ["GitHub Actions", "Repository, branch"],
  gitlab: ["GitLab CI/CD", "Project, branch"],
  buildkite: ["Buildkite", "Pipeline, branch"],
  circleci: ["CircleCI", "Project"],
  kubernetes: ["Kubernetes", "Service account"],
  google: ["Google Cloud", "Service account"],
  azure: ["Azure", "Managed identity"],
  aws: ["AWS", "IAM role"],
};

const SYSTEMS: readonly ChoiceCard[] = [
  ...MACHINE_FORMS.map(({ name, title }): ChoiceCard => [name, ...(KNOWN_BY[name] ?? ([title, ""] as const))]),
  [OTHER, "Other", "Claims or keys"],
];

const ROLES: readonly ChoiceCard[] = [
  ["registry.push", "Pulls and pushes", "registry.push, on the group and everything below it"],
  ["registry.pull", "Pulls", "registry.pull, on the group and everything below it"],
  ["", "None yet", "It can log in, but cannot do anything"],
];

/** Chooses the system that the machine runs in. */
export function SystemCards({ value, onChange, error }: OwnField) {
  return <ChoiceCards legend="Where it runs" cards={SYSTEMS} value={value} onChange={onChange} error={error} isGrid />;
}

/** Chooses the role, by its name, that the machine has on its group. */
export function MachineRoleCards({ value, onChange, error, group }: OwnField & { group: string }) {
  const groups = useQuery(groupsQuery).data ?? [];
  const path = pathsOf(groups).get(group);
  return (
    <ChoiceCards
      legend={path === undefined ? "Role" : `Role in ${path}`}
      cards={ROLES}
      value={value}
      onChange={onChange}
      error={error}
    />
  );
}
