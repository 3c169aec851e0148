import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { getRole } from "../../api/gen/iam.ts";
import { query } from "../../api/queries.ts";
import { Card, Facts, Page, Row, Section } from "../../ui/page.tsx";
import { groupsOf } from "./parts/capability-words.ts";
import { Place } from "./parts/place.tsx";
import { RowActions } from "./parts/row-actions.tsx";
import { parentOf } from "./parts/tree.ts";
import { isBuiltIn, ROLES } from "./roles.tsx";

const route = getRouteApi("/shell/access/role");

/** `/access/role`: what a role allows, in words. */
export function RolePage() {
  const { uid = "" } = route.useSearch();
  const navigate = useNavigate();
  const { data: role } = useSuspenseQuery(query(getRole, { uid }));
  const remove = {
    ...ROLES.remove,
    send: async (gone: string) => {
      await ROLES.remove.send(gone);
      await navigate({ to: "/access/roles" });
    },
  };
  return (
    <Page title={role.name} actions={<RowActions spec={{ ...ROLES, remove }} row={role} />}>
      {role.description !== "" && <p>{role.description}</p>}
      <Row>
        <span>{isBuiltIn(uid) ? "Built in" : <Place uid={parentOf(uid)} />}</span>
        <Link to="/access/bindings" search={{ role: uid }}>
          Who holds it
        </Link>
      </Row>
      <Section title="What it allows">
        <Card>
          <Facts
            facts={groupsOf(role.capabilities).map(({ about, items }) => [
              about,
              items.map(({ capability, verb }, at) => (
                <span key={capability} title={capability}>
                  {at > 0 && ", "}
                  {verb}
                </span>
              )),
            ])}
          />
        </Card>
      </Section>
    </Page>
  );
}
