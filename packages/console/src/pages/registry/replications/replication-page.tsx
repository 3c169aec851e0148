import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { Replication } from "../../../api/gen/registry.ts";
import { bytes } from "../../../lib/bytes.ts";
import { parentUid } from "../../../lib/uid.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Note } from "../../../ui/note.tsx";
import { Card, Facts, Page } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { Place } from "../../access/parts/place.tsx";
import { RowActions } from "../../access/parts/row-actions.tsx";
import { POLL_MS, replicationQuery } from "./queries.ts";
import { ReplicationActions } from "./replication-actions.tsx";
import { ReplicationItems } from "./replication-items.tsx";
import { howFar, itemWords, lateWords, matchWords, whenWords } from "./replication-words.ts";
import { REPLICATIONS } from "./replications-page.tsx";

const route = getRouteApi("/shell/images/replication");

/** `/images/replication`: how far one replication is, tag by tag. */
export function ReplicationPage() {
  const { uid = "", state } = route.useSearch();
  const navigate = useNavigate();
  const { data: replication } = useSuspenseQuery({
    ...replicationQuery(uid),
    refetchInterval: POLL_MS,
  });
  const { word, look, detail } = howFar(replication);
  const remove = {
    ...REPLICATIONS.remove,
    send: async (gone: string) => {
      await REPLICATIONS.remove.send(gone);
      await navigate({ to: "/images/replications" });
    },
  };
  return (
    <Page
      title={replication.name}
      lede={replication.description || undefined}
      badges={<Badge look={look}>{word}</Badge>}
      actions={
        <>
          <ReplicationActions replication={replication} />
          <RowActions spec={{ ...REPLICATIONS, remove }} row={replication} />
        </>
      }
    >
      {detail !== "" && <Note look={look === "success" || look === "accent" ? "plain" : "warning"}>{detail}</Note>}
      <Card>
        <Facts facts={factsOf(replication)} />
      </Card>
      <ReplicationItems
        replication={replication}
        state={state}
        onState={(next) =>
          void navigate({ to: "/images/replication", search: { uid, ...(next !== undefined && { state: next }) } })
        }
      />
    </Page>
  );
}

function factsOf(replication: Replication) {
  const { uid, destination, username, destinationIdentity, state, onConflict, deletions } = replication;
  const late = lateWords(replication);
  return [
    ["Destination", <code key="destination">{destination}</code>],
    ["Identity there", destinationIdentity && <code key="identity">{destinationIdentity}</code>],
    ["User name there", destinationIdentity === "" ? username || "none" : undefined],
    ["Pushes the images of", <Place key="group" uid={parentUid(uid)} />],
    ["What matches", matchWords(replication)],
    ["When", whenWords(replication)],
    ["Left to push", itemWords(replication)],
    ["Waiting for", late],
    ["Last pushed", <Time key="last" value={state?.lastSuccessTime} />],
    ["Sent", state === undefined ? undefined : bytes(state.bytes)],
    [
      "Tags there that it did not push",
      onConflict === "REPLICATION_CONFLICT_OVERWRITE" ? <strong key="conflict">is overwritten</strong> : "stays",
    ],
    [
      "Tags that are deleted here",
      deletions === "REPLICATION_DELETIONS_FOLLOW" ? <strong key="deletions">is deleted there</strong> : "stays there",
    ],
  ] as const;
}
