import { useQuery } from "@tanstack/react-query";
import { useRouterState } from "@tanstack/react-router";
import type { Group } from "../api/gen/iam.ts";
import { organizationsQuery } from "../pages/home/queries.ts";

/** The organizations that the person may see, and the one that the page is about. */
export interface Organizations {
  /** Undefined while they are read. */
  all: readonly Group[] | undefined;
  /** The one of the address, or the only one; undefined where the page is about all. */
  current: Group | undefined;
}

/** Whose page this is: the organization of the group or the image that the address names. */
export function useOrganizations(): Organizations {
  const { data } = useQuery(organizationsQuery);
  const { group, name } = useRouterState({
    select: ({ location }) => {
      const search = location.search as { group?: string; name?: string; uid?: string };
      return { group: search.group ?? search.uid ?? "", name: search.name ?? "" };
    },
    structuralSharing: true,
  });
  const all = data?.groups;
  const [root = ""] = group.split("/");
  const [first = ""] = name.split("/");
  const current =
    all?.find(({ uid }) => uid === root) ??
    all?.find((each) => each.name === first) ??
    (all?.length === 1 ? all[0] : undefined);
  return { all, current };
}
