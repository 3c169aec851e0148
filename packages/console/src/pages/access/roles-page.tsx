import { getRouteApi } from "@tanstack/react-router";
import { ResourcePage } from "./parts/resource-page.tsx";
import { useRows } from "./parts/rows.ts";
import { rolesList } from "./queries.ts";
import { ROLES } from "./roles.tsx";

const route = getRouteApi("/shell/access/roles");

/** `/access/roles` */
export function RolesPage() {
  const search = route.useSearch();
  const list = useRows(rolesList(search), ({ roles }) => roles);
  return <ResourcePage spec={ROLES} list={list} group={search.group ?? ""} order={search.order} />;
}
