import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { getSubscription } from "../../api/gen/events.ts";
import { query } from "../../api/queries.ts";
import { groupPath, groupsQuery } from "../../lib/groups.ts";
import { parentUid } from "../../lib/uid.ts";
import { Note } from "../../ui/note.tsx";
import { Card, Facts, Page, Section } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { Backlog } from "./backlog.tsx";
import { Deliveries } from "./deliveries.tsx";
import { formatWord, isSigned, NOT_SIGNED } from "./format-words.ts";
import { SubscriptionBadge } from "./states.tsx";
import { SubscriptionActions } from "./subscription-actions.tsx";

const route = getRouteApi("/shell/events/subscription");

const POLL_MS = 10_000;

/** One subscription: its state, what can be done with it, and its deliveries. */
export function SubscriptionPage() {
  const { uid = "" } = route.useSearch();
  const { groups } = useSuspenseQuery(groupsQuery).data;
  const options = query(getSubscription, { uid });
  const { data: subscription } = useSuspenseQuery(options);
  // The sink may have it disabled meanwhile.
  useQuery({ ...options, refetchInterval: POLL_MS });
  const { sink, state, stateReason, typePrefixes, subjectPrefixes, taggedOnly, allowedRate, format } = subscription;
  return (
    <Page title={sink} actions={<SubscriptionActions subscription={subscription} />}>
      {stateReason !== "" && <Note look="warning">It is disabled: {stateReason}</Note>}
      <Card>
        <Facts
          facts={[
            ["State", <SubscriptionBadge key="state" state={state} />],
            ["Backlog", <Backlog key="backlog" uid={uid} />],
            ["Format", formatWord(format)],
            ["Signature", isSigned(format) ? undefined : NOT_SIGNED],
            ["Group", groupPath(parentUid(uid), groups)],
            ["Types", typePrefixes.length === 0 ? "all" : typePrefixes.join(", ")],
            ["Subjects", subjectPrefixes.length === 0 ? "all" : subjectPrefixes.join(", ")],
            ["Pushes and pulls", taggedOnly ? "only by tag" : undefined],
            ["Rate that the receiver allows", allowedRate > 0 ? `${allowedRate} a minute` : undefined],
            ["Created", <Time key="made" value={subscription.createTime} />],
            [
              "Old secret signs until",
              isSigned(format) && subscription.oldSecretExpireTime ? (
                <Time key="old" value={subscription.oldSecretExpireTime} />
              ) : undefined,
            ],
          ]}
        />
      </Card>
      <Section title="Deliveries">
        <Deliveries subscription={subscription} />
      </Section>
    </Page>
  );
}
