import { useQuery } from "@tanstack/react-query";
import { isCode } from "../../api/call.ts";
import { getInstallation } from "../../api/gen/operations.ts";
import { query } from "../../api/queries.ts";
import { count } from "../../lib/bytes.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Card, Facts, Page } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { Garbage } from "./garbage.tsx";
import { Jobs } from "./jobs.tsx";
import { OperatorsOnly } from "./operators-only.tsx";

const STORES: Readonly<Record<string, string>> = { sqlite: "SQLite", postgres: "PostgreSQL", files: "files", s3: "S3" };

/** How the installation is doing: its jobs, and what garbage collection would remove. */
export function OperationsPage() {
  const { data, error } = useQuery(query(getInstallation, {}));
  if (isCode(error, "PERMISSION_DENIED")) return <OperatorsOnly title="Installation" />;
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
                ["Blob storage", STORES[data.blobStore] ?? data.blobStore],
                ["Organizations", count(data.organizations)],
                ["Repos", count(data.repos)],
                ["Tags", count(data.tags)],
              ]}
            />
          </Card>
          <Garbage />
          <Jobs />
        </>
      )}
    </Page>
  );
}
