import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Pause, Play } from "lucide-react";
import { type FormEvent, useState } from "react";
import { GroupField } from "../../ui/group-field.tsx";
import { groupsQuery } from "../../lib/groups.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { FilterForm } from "../../ui/filter-form.tsx";
import { Page } from "../../ui/page.tsx";
import { LiveFeed } from "./live-feed.tsx";
import { OldestFeed } from "./oldest-feed.tsx";

const route = getRouteApi("/shell/events");

/** What happens in a group and in all below it, as it happens or from the oldest event on. */
export function FeedPage() {
  const { group: chosen, type = "", subject = "", from } = route.useSearch();
  const { groups } = useSuspenseQuery(groupsQuery).data;
  const navigate = useNavigate();
  const [isPaused, setPaused] = useState(false);
  const group = chosen ?? groups.toSorted((a, b) => a.uid.length - b.uid.length)[0]?.uid ?? "";
  const filter = { group, type, subject };
  const go = (changes: Partial<Record<"group" | "type" | "subject" | "from", string>>): void =>
    void navigate({ to: "/events", search: { ...filter, ...(from !== undefined && { from }), ...changes } });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    const form = new FormData(event.currentTarget);
    go({ type: String(form.get("type")).trim(), subject: String(form.get("subject")).trim() });
  };
  const isLive = from !== "oldest";
  return (
    <Page
      title="Events"
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
        <Empty title="You see no group yet">
          Events belong to groups. Ask somebody who owns one to bind a role to you.
        </Empty>
      ) : (
        <>
          <FilterForm key={`${type} ${subject}`} onSubmit={submit}>
            <GroupField value={group} onValue={(uid) => go({ group: uid })} groups={groups} />
            <SelectField label="Show" value={from ?? ""} onChange={({ target }) => go({ from: target.value })}>
              <option value="">newest first, live</option>
              <option value="oldest">from the oldest on</option>
            </SelectField>
            <TextField
              label="Type begins with"
              name="type"
              defaultValue={type}
              placeholder="dev.moorage.registry."
              spellCheck={false}
            />
            <TextField
              label="Subject"
              name="subject"
              defaultValue={subject}
              placeholder="uid of a repo or a group"
              spellCheck={false}
            />
          </FilterForm>
          {isLive ? <LiveFeed filter={filter} isPaused={isPaused} /> : <OldestFeed filter={filter} />}
        </>
      )}
    </Page>
  );
}
