import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Group } from "../../api/gen/iam.ts";
import { counted } from "../../lib/bytes.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { TextField } from "../../ui/field.tsx";
import { Page } from "../../ui/page.tsx";
import { GroupActions } from "./group-actions.tsx";
import { newGroupForm } from "./group-forms.ts";
import { useChanged } from "./parts/use-refresh.ts";
import { groupsQuery } from "./parts/data.ts";
import { FormDialog } from "./parts/form-dialog.tsx";
import styles from "./parts/parts.module.css";
import { type Node, treeOf } from "./parts/tree.ts";
import { useOrganizationsReason } from "./organizations-reason.ts";

const route = getRouteApi("/shell/access/groups");

/** `/access/groups`: the tree of groups. */
export function GroupsPage() {
  const { q = "" } = route.useSearch();
  const navigate = useNavigate();
  const [isMaking, setIsMaking] = useState(false);
  const changed = useChanged();
  const reason = useOrganizationsReason();
  const { data: groups } = useSuspenseQuery(groupsQuery);
  const tree = matching(treeOf(groups), q.trim().toLowerCase());
  return (
    <Page
      title="Groups"
      actions={
        <Button look="primary" disabledReason={reason} onClick={() => setIsMaking(true)}>
          New organization
        </Button>
      }
    >
      <p>
        A group holds images, packages, people, machines, roles, and other groups. A role on a group applies to
        everything below it. A top-level group is an organization.
      </p>
      <div className={styles.choice}>
        <TextField
          label="Find a group"
          type="search"
          value={q}
          onChange={(event) =>
            void navigate({ to: ".", search: { q: event.target.value || undefined }, replace: true })
          }
        />
      </div>
      {tree.length === 0 ? (
        <Empty
          title={q === "" ? "You are in no group yet" : "No group path contains these letters"}
          command='curl -X POST "$URL/iam/v2/groups" -H "Authorization: Bearer $TOKEN" -d &apos;{"name": "acme"}&apos;'
        >
          An administrator of the installation makes organizations; whoever owns one can invite you.
        </Empty>
      ) : (
        <nav aria-label="Groups" className={styles.tree}>
          <Branches nodes={tree} />
        </nav>
      )}
      {isMaking && (
        <FormDialog form={newGroupForm("", "")} onClose={() => setIsMaking(false)} onDone={() => void changed()} />
      )}
    </Page>
  );
}

function Branches({ nodes }: { nodes: readonly Node<Group>[] }) {
  return (
    <ul>
      {nodes.map(({ group, path, children }) => (
        <li key={group.uid}>
          <div className={styles.branch}>
            <div>
              <Link to="/access/group" search={{ uid: group.uid }}>
                {group.name}
              </Link>{" "}
              <span className={styles.muted}>
                {[group.description, children.length > 0 ? counted(children.length, "group") : ""]
                  .filter((part) => part !== "")
                  .join(" · ")}
              </span>
            </div>
            <GroupActions group={group} path={path} />
          </div>
          {children.length > 0 && <Branches nodes={children} />}
        </li>
      ))}
    </ul>
  );
}

/** The tree with the groups alone whose path has the letters, and those above them. */
function matching(nodes: readonly Node<Group>[], letters: string): Node<Group>[] {
  return nodes.flatMap((node) => {
    const children = matching(node.children, letters);
    return node.path.toLowerCase().includes(letters) || children.length > 0 ? [{ ...node, children }] : [];
  });
}
