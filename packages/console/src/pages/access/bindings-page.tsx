import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { ChoiceField } from "./parts/choice-field.tsx";
import { useChoices } from "./parts/data.ts";
import styles from "./parts/parts.module.css";
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
  const filter = (name: "identity" | "role") => (value: string) =>
    void navigate({ to: "/access/bindings", search: { ...search, [name]: value || undefined } });
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
      filters={
        <div className={styles.filters}>
          <ChoiceField
            label="Only of identity"
            none="Any identity"
            choices={identities}
            value={search.identity ?? ""}
            onChange={filter("identity")}
          />
          <ChoiceField
            label="Only of role"
            none="Any role"
            choices={roles}
            value={search.role ?? ""}
            onChange={filter("role")}
          />
        </div>
      }
    />
  );
}
