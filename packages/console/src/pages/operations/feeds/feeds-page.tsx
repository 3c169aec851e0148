import { useQuery } from "@tanstack/react-query";
import { isCode } from "../../../api/call.ts";
import { listFeeds } from "../../../api/gen/operations.ts";
import { query } from "../../../api/queries.ts";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Page, Section } from "../../../ui/page.tsx";
import { OperatorsOnly } from "../operators-only.tsx";
import { FeedTable } from "./feed-table.tsx";
import { FeedPresets } from "./presets.tsx";
import { FeedProblems } from "./problems.tsx";

const POLL_MS = 5_000;
const MAY_NOT =
  "You need CAP_OPERATIONS_FEEDS_UPDATE on the first organization. Anyone who can assign roles there can grant it.";

/** Where what is known of vulnerabilities comes from: the feeds, what can be added, and what of them finds nothing. */
export function FeedsPage() {
  const { data, error } = useQuery({ ...query(listFeeds, {}), refetchInterval: POLL_MS });
  if (isCode(error, "PERMISSION_DENIED")) return <OperatorsOnly title="Feeds" />;
  const mayNot = data === undefined ? "Loading your permissions" : data.canChange ? undefined : MAY_NOT;
  return (
    <Page title="Feeds">
      <ErrorNote error={error} />
      {data !== undefined &&
        (data.feeds.length === 0 ? (
          <Empty title="No feeds yet">
            The server needs feeds to find vulnerabilities in images. Add some of those below, or import files with
            `moorage feeds import`.
          </Empty>
        ) : (
          <FeedTable feeds={data.feeds} mayNot={mayNot} />
        ))}
      <Section title="Feeds that can be added">
        <FeedPresets mayNot={mayNot} />
      </Section>
      <FeedProblems />
    </Page>
  );
}
