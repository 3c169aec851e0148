import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { getGroup } from "../../api/gen/iam.ts";
import { query } from "../../api/queries.ts";
import { Empty } from "../../ui/empty.tsx";
import { Card, Facts, Page, Section } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { GroupActions } from "./group-actions.tsx";
import { groupsQuery, usePaths } from "./parts/data.ts";
import { parentOf } from "./parts/tree.ts";

const route = getRouteApi("/shell/access/group");

const HERE = [
  ["/access/bindings", "Role bindings"],
  ["/access/identities", "Identities"],
  ["/access/roles", "Roles"],
  ["/access/invites", "Invites"],
  ["/access/pull-tokens", "Pull tokens"],
  ["/access/providers", "Identity providers"],
  ["/access/associations", "Account associations"],
  ["/access/terms", "Terms"],
  ["/operations/quotas", "Quotas"],
  ["/operations/usage", "Usage"],
] as const;

/** `/access/group`: one group, what is below it, and where what belongs to it is managed. */
export function GroupPage() {
  const { uid = "" } = route.useSearch();
  const navigate = useNavigate();
  const { data: group } = useSuspenseQuery(query(getGroup, { uid }));
  const { data: groups } = useSuspenseQuery(groupsQuery);
  const path = usePaths().get(uid) ?? group.name;
  const below = groups.filter((each) => parentOf(each.uid) === uid);
  return (
    <Page
      title={path}
      actions={<GroupActions group={group} path={path} onDeleted={() => void navigate({ to: "/access/groups" })} />}
    >
      <Card>
        <Facts
          facts={[
            ["Description", group.description],
            ["uid", <code key="uid">{group.uid}</code>],
            ["Created", <Time key="made" value={group.createTime} />],
            ["Changed", <Time key="changed" value={group.updateTime} />],
          ]}
        />
      </Card>
      <Section title="In this group and below">
        <ul>
          {HERE.map(([to, label]) => (
            <li key={to}>
              <Link to={to} search={{ group: uid }}>
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Groups below">
        {below.length === 0 ? (
          <Empty
            title="No groups below this one"
            command={`curl -X POST "$URL/iam/v2/groups/${uid}" -H "Authorization: Bearer $TOKEN" -d '{"name": "team"}'`}
          >
            Make one for a team whose images only that team pushes: “New group below”, above, or by the API.
          </Empty>
        ) : (
          <ul>
            {below.map((each) => (
              <li key={each.uid}>
                <Link to="/access/group" search={{ uid: each.uid }}>
                  {each.name}
                </Link>{" "}
                {each.description}
              </li>
            ))}
          </ul>
        )}
      </Section>
    </Page>
  );
}
