import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../../api/errors.ts";
import { getInstallation } from "../../api/gen/operations.ts";
import { query } from "../../api/queries.ts";
import { count } from "../../lib/bytes.ts";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Card, Facts, Page } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { FeedPresets } from "./feed-presets.tsx";
import { FeedProblems } from "./feed-problems.tsx";
import { Feeds } from "./feeds.tsx";
import { Garbage } from "./garbage.tsx";
import { Jobs } from "./jobs.tsx";

const STORES: Readonly<Record<string, string>> = { sqlite: "SQLite", postgres: "PostgreSQL", files: "files", s3: "S3" };

/** How the installation is doing: its jobs, its feeds, and what garbage collection would remove. */
export function OperationsPage() {
  const { data, error } = useQuery(query(getInstallation, {}));
  if (error instanceof ApiError && error.code === "PERMISSION_DENIED")
    return (
      <Page title="Installation">
        <Empty title="This is for those who run the server">
          You need CAP_OPERATIONS_LIST on the first organization, which its owners have. Storage and sessions are for
          everybody.
        </Empty>
      </Page>
    );
  return (
    <Page title="Installation">
      <ErrorNote error={error} />
      {data !== undefined && (
        <>
          <Card>
            <Facts
              facts={[
                ["Version", data.version],
                ["Started", <Time key="start" value={data.startTime} />],
                ["Database", STORES[data.engine] ?? data.engine],
                ["Layers are kept in", STORES[data.blobStore] ?? data.blobStore],
                ["Organizations", count(data.organizations)],
                ["Repos", count(data.repos)],
                ["Tags", count(data.tags)],
              ]}
            />
          </Card>
          <Garbage />
          <Jobs />
          <Feeds />
          <FeedProblems />
          <FeedPresets />
        </>
      )}
    </Page>
  );
}
