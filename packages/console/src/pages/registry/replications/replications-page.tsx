import { getRouteApi, Link } from "@tanstack/react-router";
import { call } from "../../../api/call.ts";
import { deleteReplication, type Replication } from "../../../api/gen/registry.ts";
import { parentUid } from "../../../lib/uid.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Time } from "../../../ui/time.tsx";
import { Place } from "../../access/parts/place.tsx";
import { ResourcePage } from "../../access/parts/resource-page.tsx";
import type { ResourceSpec } from "../../access/parts/resource.ts";
import { useRows } from "../../access/parts/rows.ts";
import styles from "../kinds/kinds.module.css";
import { pollMs, replicationsList } from "./queries.ts";
import { editReplicationForm, newReplicationForm } from "./replication-forms.tsx";
import { howFar, itemWords, matchWords } from "./replication-words.ts";

const route = getRouteApi("/shell/images/replications");

/** What the list of replications and the page of one have in common. */
export const REPLICATIONS: ResourceSpec<Replication> = {
  title: "Replications",
  noun: "replication",
  intro: "Which images of a group are pushed to other registries, and their progress.",
  isTall: true,
  columns: [
    {
      id: "name",
      header: "Replication",
      orderBy: "name",
      cell: ({ uid, name }) => (
        <Link to="/images/replication" search={{ uid }}>
          {name}
        </Link>
      ),
    },
    { id: "group", header: "Group", isMinor: true, cell: ({ uid }) => <Place uid={parentUid(uid)} /> },
    {
      id: "destination",
      header: "Destination",
      orderBy: "destination",
      isMinor: true,
      cell: (replication) => (
        <div className={styles.cell}>
          <span>{replication.destination}</span>
          <small>{matchWords(replication)}</small>
        </div>
      ),
    },
    { id: "state", header: "State", cell: (replication) => <State replication={replication} /> },
    { id: "items", header: "Left to push", isWide: true, cell: itemWords },
    {
      id: "last",
      header: "Last pushed",
      isWide: true,
      align: "end",
      cell: ({ state }) => <Time value={state?.lastSuccessTime} />,
    },
  ],
  uidOf: ({ uid }) => uid,
  nameOf: ({ name }) => name,
  create: { capability: "CAP_REPLICATIONS_CREATE", form: newReplicationForm },
  edit: { capability: "CAP_REPLICATIONS_UPDATE", form: editReplicationForm },
  remove: {
    capability: "CAP_REPLICATIONS_DELETE",
    send: (uid) => call(deleteReplication, { uid }),
    effect: "Pushes in progress stop. What was already pushed stays at the destination.",
  },
  empty: {
    title: "No replications here",
    text: "A replication pushes matching images to another registry, and keeps them up to date.",
    command: "moorage replications create acme/archive --destination registry.example.com/archive --on-push",
  },
};

/** `/images/replications` */
export function ReplicationsPage() {
  const search = route.useSearch();
  const list = useRows(
    {
      ...replicationsList(search),
      refetchInterval: ({ state: { data } }) =>
        pollMs(data?.pages.length === 1 ? data.pages[0]?.replications : undefined),
    },
    ({ replications }) => replications,
  );
  return <ResourcePage spec={REPLICATIONS} list={list} group={search.group ?? ""} order={search.order} />;
}

function State({ replication }: { replication: Replication }) {
  const { word, look, detail } = howFar(replication);
  return (
    <div className={styles.cell}>
      <span>
        <Badge look={look}>{word}</Badge>
      </span>
      <small title={detail}>{detail}</small>
    </div>
  );
}
