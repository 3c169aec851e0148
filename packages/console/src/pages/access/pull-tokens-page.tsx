import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { exactTime } from "../../lib/time.ts";
import { loginCommand, type MadePassword } from "./make-password.ts";
import { ResourcePage } from "./parts/resource-page.tsx";
import { useRows } from "./parts/rows.ts";
import { ShownOnce } from "./parts/shown-once.tsx";
import { isPassword, passwordsWith } from "./pull-tokens.tsx";
import { keysList } from "./queries.ts";
import { registryHostQuery } from "./registry-host.ts";

const route = getRouteApi("/shell/access/pull-tokens");

/** `/access/pull-tokens`: passwords for machines, made in this browser. */
export function PullTokensPage() {
  const search = route.useSearch();
  const [made, setMade] = useState<MadePassword>();
  const { data: registry } = useSuspenseQuery(registryHostQuery);
  // The list has all identities with keys of their own: how many of them are passwords is not known.
  const list = useRows(keysList(search), ({ identities }) => identities.filter(isPassword));
  return (
    <ResourcePage
      spec={passwordsWith(registry, setMade)}
      list={{ ...list, total: undefined }}
      group={search.group ?? ""}
      order={search.order}
    >
      {made !== undefined && (
        <ShownOnce
          title={`The ${made.kind.noun}`}
          texts={[
            ["Log in", loginCommand(made)],
            ["User name", made.username],
            ["Password", made.password],
          ]}
          onClose={() => setMade(undefined)}
        >
          <p>Run the first line where docker runs. It is good until {exactTime(made.end)}.</p>
        </ShownOnce>
      )}
    </ResourcePage>
  );
}
