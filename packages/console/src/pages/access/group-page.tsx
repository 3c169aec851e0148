import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { getGroup, type Group } from "../../api/gen/iam.ts";
import { query } from "../../api/queries.ts";
import { PublicAccess } from "./parts/public-access.tsx";
import type { Column } from "../../ui/column.ts";
import { Empty } from "../../ui/empty.tsx";
import { Card, Facts, Page, Section } from "../../ui/page.tsx";
import { ShortTable } from "../../ui/short-table.tsx";
import { Time } from "../../ui/time.tsx";
import { GroupActions } from "./group-actions.tsx";
import { groupsQuery, usePaths } from "./parts/data.ts";
import styles from "./parts/parts.module.css";
import { parentOf } from "./parts/tree.ts";

const route = getRouteApi("/shell/access/group");

const HERE = [
  ["/images", "Images", "Everything pushed to it and below"],
  ["/access/bindings", "Members", "Who holds which role"],
  ["/access/identities", "Directory", "People and machines it manages"],
  ["/access/invites", "Invites", "Links by which people join"],
  ["/access/roles", "Roles", "What its own roles permit"],
  ["/access/providers", "Identity providers", "Where its people sign in"],
  ["/access/terms", "Terms", "Documents to accept"],
  ["/access/machines", "Machines", "CI systems and push tokens"],
  ["/access/pull-tokens", "Pull tokens", "For clusters that only pull"],
  ["/access/associations", "Cloud accounts", "Accounts of clouds it trusts"],
  ["/operations/quotas", "Quotas", "Limits on what it stores"],
  ["/operations/usage", "Usage", "Storage and traffic"],
] as const;

const COLUMNS: readonly Column<Group>[] = [
  {
    id: "name",
    header: "Group",
    cell: ({ uid, name }) => (
      <Link to="/access/group" search={{ uid }}>
        {name}
      </Link>
    ),
  },
  { id: "description", header: "Description", cell: ({ description }) => description, isMinor: true },
  { id: "made", header: "Created", align: "end", cell: ({ createTime }) => <Time value={createTime} /> },
];

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
      lede={group.description || undefined}
      actions={<GroupActions group={group} path={path} onDeleted={() => void navigate({ to: "/access/groups" })} />}
    >
      <PublicAccess uid={uid} />
      <nav aria-label="In this group and below">
        <ul className={styles.tiles}>
          {HERE.map(([to, label, about]) => (
            <li key={to}>
              <Link to={to} search={{ group: uid }}>
                {label}
              </Link>
              <small>{about}</small>
            </li>
          ))}
        </ul>
      </nav>
      <Section title="Groups below" count={below.length}>
        {below.length === 0 ? (
          <Empty
            title="No groups below this one"
            command={`curl -X POST "$URL/iam/v2/groups/${uid}" -H "Authorization: Bearer $TOKEN" -d '{"name": "team"}'`}
          >
            Create one for each team that pushes its own images, with “New group below” or the API.
          </Empty>
        ) : (
          <ShortTable label="Groups below" rows={below} columns={COLUMNS} idOf={(each) => each.uid} />
        )}
      </Section>
      <Card>
        <Facts
          facts={[
            ["uid", <code key="uid">{group.uid}</code>],
            ["Created", <Time key="made" value={group.createTime} />],
            ["Updated", <Time key="changed" value={group.updateTime} />],
          ]}
        />
      </Card>
    </Page>
  );
}
