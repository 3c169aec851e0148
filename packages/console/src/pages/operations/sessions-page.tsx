import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { IdentityName } from "../../lib/identity-name.tsx";
import { FilterChip } from "../../ui/filter-chip.tsx";
import { Page } from "../../ui/page.tsx";
import { Toolbar } from "../../ui/toolbar.tsx";
import { useChoices } from "../access/parts/data.ts";
import { SessionTable } from "./session-table.tsx";

const route = getRouteApi("/shell/sessions");

/** `/sessions`: where a person or a machine is signed in, for those who may see that. */
export function SessionsPage() {
  const { identity = "", order } = route.useSearch();
  const navigate = useNavigate();
  const choices = useChoices("identity");
  return (
    <Page
      title="Sessions"
      lede={
        identity === "" ? (
          "Where you are signed in. Choose someone else to see their sessions."
        ) : (
          <>
            Where <IdentityName uid={identity} /> is signed in.
          </>
        )
      }
    >
      <Toolbar>
        <FilterChip
          label="Person or machine"
          none="You"
          value={identity || undefined}
          options={choices.map(({ value, label }) => [value, label])}
          onValue={(uid) => void navigate({ to: "/sessions", search: { ...(uid !== undefined && { identity: uid }) } })}
        />
      </Toolbar>
      <SessionTable
        identity={identity}
        order={order}
        onOrder={(next) => void navigate({ to: "/sessions", search: { identity, order: next } })}
      />
    </Page>
  );
}
