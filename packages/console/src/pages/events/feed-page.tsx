import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Pause, Play } from "lucide-react";
import { useState } from "react";
import { groupPath, groupsQuery } from "../../lib/groups.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { FilterChip } from "../../ui/filter-chip.tsx";
import { Page } from "../../ui/page.tsx";
import { TextChip } from "../../ui/text-chip.tsx";
import { Toolbar } from "../../ui/toolbar.tsx";
import { LiveFeed } from "./live-feed.tsx";
import { OldestFeed } from "./oldest-feed.tsx";

const route = getRouteApi("/shell/events");

/** What happens in a group and in all below it, as it happens or from the oldest event on. */
export function FeedPage() {
  const { group: inUrl, type = "", subject = "", from } = route.useSearch();
  const { groups } = useSuspenseQuery(groupsQuery).data;
  const navigate = useNavigate();
  const [isPaused, setPaused] = useState(false);
  const chosen = inUrl || undefined;
  const group = chosen ?? groups.toSorted((a, b) => a.uid.length - b.uid.length)[0]?.uid ?? "";
  const filter = { group, type, subject };
  const go = (changes: Partial<Record<"group" | "type" | "subject" | "from", string>>): void =>
    void navigate({ to: "/events", search: { ...filter, ...(from !== undefined && { from }), ...changes } });
  const isLive = from !== "oldest";
  return (
    <Page
      title="Events"
      lede="What happens in a group and everything below it."
      actions={
        isLive && (
          <Button
            onClick={() => setPaused(!isPaused)}
            icon={isPaused ? <Play size={16} aria-hidden /> : <Pause size={16} aria-hidden />}
          >
            {isPaused ? "Go on" : "Pause"}
          </Button>
        )
      }
    >
      {groups.length === 0 ? (
        <Empty title="You cannot see any group yet">
          Events belong to groups. Ask the owner of a group to give you a role.
        </Empty>
      ) : (
        <>
          <Toolbar>
            <FilterChip
              label="Group"
              none={groupPath(group, groups)}
              value={chosen}
              options={groups.map(({ uid }) => [uid, groupPath(uid, groups)])}
              onValue={(uid) => go({ group: uid ?? "" })}
            />
            <FilterChip
              label="Show"
              none="newest first, live"
              value={from === "oldest" ? from : undefined}
              options={[["oldest", "oldest first"]]}
              onValue={(value) => go({ from: value ?? "" })}
            />
            <TextChip
              label="Type begins with"
              value={type}
              placeholder="dev.moorage.registry."
              onText={(text) => go({ type: text ?? "" })}
            />
            <TextChip
              label="Subject"
              value={subject}
              placeholder="uid of an image"
              onText={(text) => go({ subject: text ?? "" })}
            />
          </Toolbar>
          {isLive ? <LiveFeed filter={filter} isPaused={isPaused} /> : <OldestFeed filter={filter} />}
        </>
      )}
    </Page>
  );
}
