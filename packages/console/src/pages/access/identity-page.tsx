import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { getIdentity } from "../../api/gen/iam.ts";
import { query } from "../../api/queries.ts";
import { useRights } from "../../lib/rights.ts";
import { Button } from "../../ui/button.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page, Row, Section } from "../../ui/page.tsx";
import { BINDINGS, newBindingForm } from "./bindings.tsx";
import { IDENTITIES } from "./identities-page.tsx";
import { IdentityFacts } from "./identity-facts.tsx";
import { useChanged } from "./parts/use-refresh.ts";
import { FormDialog } from "./parts/form-dialog.tsx";
import { RowActions } from "./parts/row-actions.tsx";
import { useRows } from "./parts/rows.ts";
import { parentOf } from "./parts/tree.ts";
import { bindingsList } from "./queries.ts";
import { Recovery } from "./recovery.tsx";

const route = getRouteApi("/shell/access/identity");

/** `/access/identity`: one identity, how it is assumed, and the roles that are bound to it. */
export function IdentityPage() {
  const { uid = "", order } = route.useSearch();
  const navigate = useNavigate();
  const changed = useChanged();
  const rights = useRights(parentOf(uid));
  const [isBinding, setIsBinding] = useState(false);
  const { data: identity } = useSuspenseQuery(query(getIdentity, { uid }));
  const list = useRows(
    bindingsList({ identity: uid, ...(order !== undefined && { order }) }),
    ({ roleBindings }) => roleBindings,
  );
  const remove = {
    ...IDENTITIES.remove,
    send: async (gone: string) => {
      await IDENTITIES.remove.send(gone);
      await navigate({ to: "/access/identities" });
    },
  };
  return (
    <Page title={identity.name} actions={<RowActions spec={{ ...IDENTITIES, remove }} row={identity} />}>
      <IdentityFacts identity={identity} />
      <Recovery identity={identity} />
      <Row>
        <Link to="/access/explain" search={{ identity: uid }}>
          Can it pull that image?
        </Link>
        <a href={`/audit?identity=${encodeURIComponent(uid)}`}>What it did</a>
        <a href={`/sessions?identity=${encodeURIComponent(uid)}`}>Its sessions</a>
      </Row>
      <Section
        title="Its roles"
        actions={
          <Button disabledReason={rights("CAP_IAM_ROLE_BINDINGS_CREATE")} onClick={() => setIsBinding(true)}>
            Give a role
          </Button>
        }
      >
        {list.rows.length === 0 ? (
          <Empty title="It has no role that you can see">It cannot do anything until it is given one.</Empty>
        ) : (
          <DataTable
            label="Its roles"
            {...list}
            idOf={BINDINGS.uidOf}
            columns={[
              ...BINDINGS.columns.filter(({ id }) => id !== "identity"),
              {
                id: "actions",
                header: "Actions",
                align: "end",
                cell: (row) => <RowActions spec={BINDINGS} row={row} />,
              },
            ]}
          />
        )}
      </Section>
      {isBinding && (
        <FormDialog
          form={newBindingForm({ identity: uid, group: parentOf(uid) })}
          onClose={() => setIsBinding(false)}
          onDone={() => void changed()}
        />
      )}
    </Page>
  );
}
