import { useQuery } from "@tanstack/react-query";
import { useRouteContext } from "@tanstack/react-router";
import { explainAccess } from "../../api/gen/iam.ts";
import { query } from "../../api/queries.ts";

/** Why the person makes no organizations: that is for administrators of the installation. */
export function useOrganizationsReason(): string | undefined {
  const { session } = useRouteContext({ from: "/shell" });
  const { data, isPending } = useQuery(
    query(explainAccess, { identity: session.identity, method: "GroupsService/CreateGroup", resource: "" }),
  );
  if (isPending) return "Loading your permissions";
  // Without an answer the server decides when it is done.
  return data === undefined || data.allowed
    ? undefined
    : "Only administrators of the installation can create organizations.";
}
