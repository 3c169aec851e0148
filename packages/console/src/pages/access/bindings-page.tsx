import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Button } from "../../ui/button.tsx";
import { FilterChip } from "../../ui/filter-chip.tsx";
import { useChoices } from "./parts/data.ts";
import { ResourcePage } from "./parts/resource-page.tsx";
import { useRows } from "./parts/rows.ts";
import { BINDINGS, newBindingForm } from "./bindings.tsx";
import { bindingsList } from "./queries.ts";

const route = getRouteApi("/shell/access/bindings");

/** `/access/bindings`: all bindings of a group and below, or those of one identity or role. */
export function BindingsPage() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const identities = useChoices("identity");
  const roles = useChoices("role");
  const list = useRows(bindingsList(search), ({ roleBindings }) => roleBindings);
  const filter = (name: "identity" | "role") => (value: string | undefined) =>
    void navigate({ to: "/access/bindings", search: { ...search, [name]: value } });
  const spec = {
    ...BINDINGS,
    create: { ...BINDINGS.create, form: (group: string) => newBindingForm({ ...search, group }) },
  };
  return (
    <ResourcePage
      spec={spec}
      list={list}
      group={search.group ?? ""}
      order={search.order}
      actions={<Button onClick={() => void navigate({ to: "/access/invites" })}>Invite people</Button>}
      filters={
        <>
          <FilterChip
            label="Person or machine"
            value={search.identity}
            options={identities.map(({ value, label }) => [value, label])}
            onValue={filter("identity")}
          />
          <FilterChip
            label="Role"
            value={search.role}
            options={roles.map(({ value, label }) => [value, label])}
            onValue={filter("role")}
          />
        </>
      }
    />
  );
}
