import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { IdentityName } from "../../../lib/identity-name.tsx";
import { useRights } from "../../../lib/rights.ts";
import { Button } from "../../../ui/button.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { Card, Facts, Page, Section, Stack } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { EventCard } from "./event-card.tsx";
import { NewEvent } from "./new-event.tsx";
import { advisoryQuery } from "./queries.ts";

const route = getRouteApi("/shell/advisory");

/** An advisory: what it is about, and its events. */
export function AdvisoryPage() {
  const { uid } = route.useSearch();
  if (uid !== undefined) return <One uid={uid} />;
  return (
    <Page title="Advisory">
      <Empty title="Which advisory?">
        The page's address must name it. <Link to="/advisories">View all</Link>.
      </Empty>
    </Page>
  );
}

function One({ uid }: { uid: string }) {
  const { data: advisory } = useSuspenseQuery(advisoryQuery(uid));
  const rights = useRights(uid);
  const [isNew, setNew] = useState(false);
  const { aliases, artifactName, artifactType, artifactArchitecture, componentName, componentLocation } = advisory;
  return (
    <Page
      title={`${aliases[0] ?? ""} in ${componentName || artifactName}`}
      actions={
        <Button look="primary" disabledReason={rights("CAP_ADVISORIES_CREATE")} onClick={() => setNew(true)}>
          Add an event
        </Button>
      }
    >
      <Card>
        <Facts
          facts={[
            ["Advisory", advisory.advisoryId],
            [
              "Vulnerability",
              aliases.map((alias, at) => (
                <span key={alias}>
                  {at > 0 && ", "}
                  <Link to="/vulnerability" search={{ id: alias }}>
                    {alias}
                  </Link>
                </span>
              )),
            ],
            ["Artifact", [artifactName, artifactType, artifactArchitecture].filter(Boolean).join(", ")],
            ["Component", [componentName, advisory.componentType, componentLocation].filter(Boolean).join(", ")],
            ["Written by", <IdentityName key="author" uid={advisory.author} />],
            ["Written", <Time key="time" value={advisory.createTime} />],
          ]}
        />
      </Card>
      <Section title="Events">
        {advisory.events.length === 0 ? (
          <Empty title="No events yet">Add what you know. The latest approved event applies.</Empty>
        ) : (
          <Stack>
            {advisory.events.map((event) => (
              <EventCard key={event.uid} event={event} rights={rights} />
            ))}
          </Stack>
        )}
      </Section>
      {isNew && <NewEvent parent={uid} onClose={() => setNew(false)} />}
    </Page>
  );
}
