import { getRouteApi } from "@tanstack/react-router";
import { ASSOCIATIONS } from "./associations.tsx";
import { ResourcePage } from "./parts/resource-page.tsx";
import { useRows } from "./parts/rows.ts";
import { associationsList } from "./queries.ts";

const route = getRouteApi("/shell/access/associations");

/** `/access/associations` */
export function AssociationsPage() {
  const search = route.useSearch();
  const list = useRows(associationsList(search), ({ accountAssociations }) => accountAssociations);
  return <ResourcePage spec={ASSOCIATIONS} list={list} group={search.group ?? ""} order={search.order} />;
}
