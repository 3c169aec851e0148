import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { listGroups, listIdentities, listIdentityProviders, listRoles } from "../../../api/gen/iam.ts";
import { allOf } from "./all-pages.ts";
import type { Choice } from "./choice-field.tsx";
import { flat, pathsOf, treeOf } from "./tree.ts";

/** All groups that the person sees. */
export const groupsQuery = allOf(listGroups, {}, ({ groups }) => groups);
/** All roles that the person sees. */
export const rolesQuery = allOf(listRoles, {}, ({ roles }) => roles);
/** All identities that the person sees. */
export const identitiesQuery = allOf(listIdentities, {}, ({ identities }) => identities);
/** All identity providers that the person sees. */
export const providersQuery = allOf(listIdentityProviders, {}, ({ identityProviders }) => identityProviders);

/** The paths of groups by uid; a page's loader has fetched them. */
export function usePaths(): ReadonlyMap<string, string> {
  return pathsOf(useSuspenseQuery(groupsQuery).data);
}

/** What a field can offer. */
export type ChoiceKind = "group" | "role" | "identity" | "provider";

/** The choices of a kind; empty while they are read. */
export function useChoices(kind: ChoiceKind | undefined): Choice[] {
  const groups = useQuery(groupsQuery).data ?? [];
  const roles = useQuery({ ...rolesQuery, enabled: kind === "role" }).data ?? [];
  const identities = useQuery({ ...identitiesQuery, enabled: kind === "identity" }).data ?? [];
  const providers = useQuery({ ...providersQuery, enabled: kind === "provider" }).data ?? [];
  if (kind === "group") return flat(treeOf(groups)).map(({ group, path }) => ({ value: group.uid, label: path }));
  if (kind === "role")
    return roles.map(({ uid, name, description }) => ({ value: uid, label: name, detail: description }));
  const paths = pathsOf(groups);
  const placed = ({ uid, name }: { uid: string; name: string }): Choice => ({
    value: uid,
    label: `${name} (${paths.get(uid.slice(0, uid.lastIndexOf("/"))) ?? "elsewhere"})`,
  });
  if (kind === "identity") return identities.map((identity) => withEmail(placed(identity), identity.email));
  return kind === "provider" ? providers.map(placed) : [];
}

function withEmail(choice: Choice, email: string): Choice {
  return email === "" ? choice : { ...choice, label: `${choice.label}, ${email}` };
}
